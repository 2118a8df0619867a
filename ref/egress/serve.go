package egress

import (
	"context"
	"errors"
	"fmt"
	"net"
	"syscall"
	"time"
)

// maxRefusers bounds the goroutines that tell clients that there are too many;
// past it accepting waits, and the backlog holds the rest.
const maxRefusers = 64

// Serve accepts connections until the proxy is shut down (nil), which may have
// been before, or the listener fails for good. It closes the listener. Several may
// be served at a time.
func (p *Proxy) Serve(l net.Listener) error {
	defer l.Close()
	if !p.track(l) {
		return nil
	}
	defer p.untrack(l)
	var wait time.Duration
	for {
		c, err := l.Accept()
		switch {
		case err == nil:
			wait = 0
			p.start(c)
		case p.isClosing():
			return nil
		case !passing(err):
			return fmt.Errorf("accept on %s: %w", l.Addr(), err)
		default:
			// Out of descriptors, the listener stays readable: without a pause
			// this loop would take a whole processor until one is free.
			wait = min(max(2*wait, 5*time.Millisecond), time.Second)
			p.cfg.Log.Warn("accept", "error", err, "retry", wait)
			select {
			case <-time.After(wait):
			case <-p.base.Done():
				return nil
			}
		}
	}
}

// passing tells the errors of accept(2) that say nothing about the listener.
func passing(err error) bool {
	for _, e := range []syscall.Errno{syscall.EMFILE, syscall.ENFILE, syscall.ENOBUFS, syscall.ENOMEM, syscall.ECONNABORTED, syscall.EPROTO, syscall.EINTR} {
		if errors.Is(err, e) {
			return true
		}
	}
	return false
}

// start serves c on its own goroutine, or refuses it where the limit is reached.
func (p *Proxy) start(c net.Conn) {
	p.mu.Lock()
	if p.closing {
		p.mu.Unlock()
		c.Close()
		return
	}
	full := len(p.conns) >= p.cfg.Limits.Connections
	if !full {
		p.conns[c] = false
	}
	p.wg.Add(1)
	p.mu.Unlock()
	if full {
		select {
		case p.refusers <- struct{}{}:
			go p.refuseConn(c)
		case <-p.base.Done():
			c.Close()
			p.wg.Done()
		}
		return
	}
	go func() {
		defer p.wg.Done()
		p.handleConn(c)
		p.mu.Lock()
		delete(p.conns, c)
		p.mu.Unlock()
	}()
}

// refuseConn answers 503 at once, without waiting for a request.
func (p *Proxy) refuseConn(nc net.Conn) {
	defer p.wg.Done()
	defer func() { <-p.refusers }()
	defer nc.Close()
	stop := context.AfterFunc(p.base, func() { nc.Close() })
	defer stop()
	c := &conn{Conn: nc, p: p}
	d := Decision{
		Verdict: Deny, Reason: ReasonConnections,
		Detail: fmt.Sprintf("all %d connections are in use: close some, or try again", p.cfg.Limits.Connections),
	}
	p.decided(d)
	c.send("", false, true, p.answer(d, 0))
	linger(nc, time.Second)
}

func (p *Proxy) track(l net.Listener) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closing {
		return false
	}
	p.listeners[l] = struct{}{}
	p.wg.Add(1)
	return true
}

func (p *Proxy) untrack(l net.Listener) {
	p.mu.Lock()
	delete(p.listeners, l)
	p.mu.Unlock()
	p.wg.Done()
}

func (p *Proxy) isClosing() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.closing
}

// setWaiting notes whether c waits for a request; it reports false when no more
// are taken.
func (p *Proxy) setWaiting(c net.Conn, waiting bool) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.conns[c] = waiting
	return !p.closing
}

// Shutdown stops accepting, ends connections that wait for a request, and waits
// for the others to end by themselves; when ctx is done first it ends them, as Close does, and returns its error.
func (p *Proxy) Shutdown(ctx context.Context) error {
	p.stopListening()
	done := make(chan struct{})
	go func() { p.wg.Wait(); close(done) }()
	select {
	case <-done:
		return p.Close()
	case <-ctx.Done():
		p.Close()
		<-done
		return fmt.Errorf("shut down egress proxy: %w", ctx.Err())
	}
}

// Close ends listeners and connections and returns when nothing of the proxy is
// left: no goroutine, no descriptor. It waits for handlers.
func (p *Proxy) Close() error {
	p.stopListening()
	p.mu.Lock()
	for c := range p.conns {
		c.Close()
	}
	p.mu.Unlock()
	// After the connections: a handler that returns for this must not have its
	// empty answer taken for a real one.
	p.cancel()
	p.wg.Wait()
	p.transport.CloseIdleConnections()
	return nil
}

func (p *Proxy) stopListening() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.closing = true
	for l := range p.listeners {
		l.Close()
	}
	for c, waiting := range p.conns {
		if waiting {
			c.Close()
		}
	}
}
