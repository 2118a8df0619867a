package program

import (
	"errors"
	"io"
	"net"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"github.com/LeGambiArt/go-arapuca/behaviour"
)

// serve handles so many connections at a time; one more goes to busy, if there is
// one, and is closed at once. It returns when the listener is closed.
func serve(l net.Listener, most int, handle, busy func(net.Conn)) {
	slots := make(chan struct{}, most)
	for {
		c, err := l.Accept()
		if err != nil {
			if temporary, ok := err.(interface{ Temporary() bool }); ok && temporary.Temporary() {
				time.Sleep(50 * time.Millisecond) // out of descriptors: one will be free
				continue
			}
			return
		}
		select {
		case slots <- struct{}{}:
			go func() {
				defer func() { <-slots }()
				defer c.Close()
				handle(c)
			}()
		default:
			go func() {
				defer c.Close()
				if busy != nil {
					busy(c)
				}
			}()
		}
	}
}

// relay leads to a Unix socket, which may be missing and come back.
func relay(socket string) func(net.Conn) {
	return func(c net.Conn) {
		far, err := net.Dial("unix", socket)
		if err != nil {
			return
		}
		defer far.Close()
		splice(c, far)
	}
}

// splice carries bytes both ways until both have ended, and passes the end of
// one on as the end of one.
func splice(a, b net.Conn) {
	p := &pipe{a: a, b: b}
	p.touch()
	var wg sync.WaitGroup
	wg.Go(func() { p.half(a, b) })
	p.half(b, a)
	wg.Wait()
}

// pipe is a pair of connections; last is when bytes last moved either way.
type pipe struct {
	a, b net.Conn
	last atomic.Int64
}

func (p *pipe) touch() { p.last.Store(time.Now().UnixNano()) }

func (p *pipe) half(dst, src net.Conn) {
	limit, oneWay := idle, false
	if d := behaviour.Duration(behaviour.OneWayIdle); d > 0 {
		limit, oneWay = d, true
	}
	buf := make([]byte, 32<<10)
	wait := limit
	for {
		if src.SetReadDeadline(time.Now().Add(wait)) != nil {
			break
		}
		n, err := src.Read(buf)
		if n > 0 {
			p.touch()
			if _, err := dst.Write(buf[:n]); err != nil {
				break
			}
			p.touch()
		}
		wait = limit
		late := errors.Is(err, os.ErrDeadlineExceeded)
		if late && !oneWay {
			if wait = limit - time.Since(time.Unix(0, p.last.Load())); wait > 0 {
				continue
			}
			p.a.Close()
			p.b.Close()
			return
		}
		if err != nil && err != io.EOF && !late {
			reset(dst)
			return
		}
		if err != nil {
			break
		}
	}
	if c, ok := dst.(interface{ CloseWrite() error }); ok {
		_ = c.CloseWrite() // it may have ended
	}
}

// reset passes an error on as one: an end would make a cut answer look whole.
func reset(c net.Conn) {
	if tcp, ok := c.(*net.TCPConn); ok {
		_ = tcp.SetLinger(0) // it may have ended
	}
	c.Close()
}
