// Package relay carries bytes between loopback listeners of a sandbox and a
// Unix socket of the host that is not the bridge's own. It knows nothing of
// what it carries: whoever speaks first is heard, nothing is held back, and the
// end of one direction is passed on as the end of that direction.
package relay

import (
	"errors"
	"fmt"
	"net"
	"sync"
	"time"

	"bridgecheck/ref/egress"
)

// Config says where a relay leads.
type Config struct {
	// Socket is the path of the Unix socket. It is dialled anew for every
	// connection: it may be missing, and come back.
	Socket string
	// Idle ends a connection that was silent in both directions for so long.
	Idle time.Duration
	// Connections is how many are carried at a time; further ones are closed at once.
	Connections int
	// OnFailure is told of every connection that could not be carried. It must
	// be safe for concurrent use.
	OnFailure func(error)
}

// ErrBusy is told for a connection beyond the limit.
var ErrBusy = errors.New("all connections of the relay are in use")

// Relay serves any number of listeners.
type Relay struct {
	cfg   Config
	slots chan struct{}

	mu     sync.Mutex
	closed bool
	open   map[closer]struct{}
	wg     sync.WaitGroup
}

type closer interface{ Close() error }

// New makes a relay; it holds nothing until Serve.
func New(cfg Config) *Relay {
	return &Relay{cfg: cfg, slots: make(chan struct{}, cfg.Connections), open: map[closer]struct{}{}}
}

// Serve accepts on l until Close, which may have been before, and closes it.
func (r *Relay) Serve(l net.Listener) error {
	if !r.track(l) {
		return nil
	}
	defer r.untrack(l)
	for {
		c, err := l.Accept()
		if errors.Is(err, net.ErrClosed) {
			return nil
		}
		if err != nil {
			var temporary interface{ Temporary() bool }
			if errors.As(err, &temporary) && temporary.Temporary() {
				<-time.After(10 * time.Millisecond) // out of descriptors: one will be free
				continue
			}
			return fmt.Errorf("relay to %s: accept: %w", r.cfg.Socket, err)
		}
		select {
		case r.slots <- struct{}{}:
			go r.carry(c)
		default:
			r.cfg.OnFailure(ErrBusy)
			_ = c.Close()
		}
	}
}

// carry connects one client and ends when both directions have.
func (r *Relay) carry(client net.Conn) {
	defer func() { <-r.slots }()
	if !r.track(client) {
		return
	}
	defer r.untrack(client)
	server, err := net.Dial("unix", r.cfg.Socket)
	if err != nil {
		r.cfg.OnFailure(err)
		return
	}
	if !r.track(server) {
		return
	}
	defer r.untrack(server)
	egress.Splice(client, server, r.cfg.Idle)
}

// Close ends every listener and connection and returns when none is left.
func (r *Relay) Close() error {
	r.mu.Lock()
	r.closed = true
	for c := range r.open {
		_ = c.Close() // it may be ending by itself
	}
	r.mu.Unlock()
	r.wg.Wait()
	return nil
}

// track reports false, and closes c, on a relay that was closed.
func (r *Relay) track(c closer) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed {
		_ = c.Close()
		return false
	}
	r.open[c] = struct{}{}
	r.wg.Add(1)
	return true
}

func (r *Relay) untrack(c closer) {
	_ = c.Close()
	r.mu.Lock()
	delete(r.open, c)
	r.mu.Unlock()
	r.wg.Done()
}
