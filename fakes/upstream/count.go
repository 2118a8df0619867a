package upstream

import (
	"context"
	"crypto/rand"
	"io"
	"net"
	"sync"
	"time"

	"bridgecheck/fakes/content"
)

// headBytes is how much of what a connection sent is kept as it stands.
const headBytes = 64 << 10

// fenceTimeout bounds the wait for a connection of our own.
const fenceTimeout = 10 * time.Second

// Stream is what one connection sent to the server so far. For TLS these are
// the encrypted bytes.
type Stream struct {
	Remote string
	Head   []byte // the first 64 KiB
	Bytes  int64
	SHA256 string
	// Ended: the client has ended its direction, or the connection is gone.
	Ended bool
}

// arrival is one accepted connection or received datagram.
type arrival struct {
	remote string
	stream *stream // nil for a datagram
	fence  bool    // one of our own
}

// listener counts at the moment of acceptance.
type listener struct {
	net.Listener
	server *Server
}

func (l *listener) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	one := &stream{Conn: c, received: content.Digest{Keep: headBytes}}
	if !l.server.arrived(one) {
		_ = c.Close()
		return nil, net.ErrClosed
	}
	return one, nil
}

// arrived takes a connection into the books; false when the server is closing.
func (s *Server) arrived(one *stream) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ctx.Err() != nil {
		return false
	}
	s.arrivals = append(s.arrivals, arrival{remote: one.RemoteAddr().String(), stream: one})
	s.changed.Broadcast()
	return true
}

// stream is one accepted connection that keeps what it reads.
type stream struct {
	net.Conn
	mu       sync.Mutex
	received content.Digest
	ended    bool
}

func (c *stream) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	c.mu.Lock()
	defer c.mu.Unlock()
	_, _ = c.received.Write(p[:n])
	c.ended = c.ended || err != nil
	return n, err
}

// CloseWrite ends the server's own direction.
func (c *stream) CloseWrite() error {
	return c.Conn.(interface{ CloseWrite() error }).CloseWrite()
}

// Streams are all connections in the order they were accepted.
func (s *Server) Streams() []Stream {
	s.fence.RLock()
	defer s.fence.RUnlock()
	s.mu.Lock()
	defer s.mu.Unlock()
	var all []Stream
	for _, a := range s.arrivals {
		if a.stream != nil && !a.fence {
			all = append(all, a.stream.facts())
		}
	}
	return all
}

func (c *stream) facts() Stream {
	c.mu.Lock()
	defer c.mu.Unlock()
	return Stream{
		Remote: c.RemoteAddr().String(),
		Head:   append([]byte(nil), c.received.Head...),
		Bytes:  c.received.Bytes, SHA256: c.received.SHA256(), Ended: c.ended,
	}
}

// Bytes is how much all connections have sent to the server.
func (s *Server) Bytes() int64 {
	var total int64
	for _, one := range s.Streams() {
		total += one.Bytes
	}
	return total
}

// Connections is how many TCP connections were accepted, or datagrams received.
// One that is still in the queue is not counted: see [Server.Fence].
func (s *Server) Connections() int {
	s.fence.RLock()
	defer s.fence.RUnlock()
	return s.count()
}

func (s *Server) count() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	total := 0
	for _, a := range s.arrivals {
		if !a.fence {
			total++
		}
	}
	return total
}

// Fence sends a connection (or datagram) of our own through the same queue,
// waits until it has been counted, and returns the count without it: whoever
// came before is in it, so zero means that nobody came. For BlackHole, which
// accepts nothing, it is zero. It panics when the server cannot be reached.
func (s *Server) Fence() int {
	if s.kind == BlackHole {
		return 0
	}
	s.fence.Lock()
	defer s.fence.Unlock()
	ctx, cancel := context.WithTimeout(s.ctx, fenceTimeout)
	defer cancel()
	s.mu.Lock()
	before := len(s.arrivals) // an earlier client may have had the same port
	s.mu.Unlock()
	dialer := net.Dialer{}
	if s.network == "unix" { // whose clients have no address unless they take one
		dialer.LocalAddr = &net.UnixAddr{Net: "unix", Name: "@fence-" + rand.Text()}
	}
	c, err := dialer.DialContext(ctx, s.network, s.dialled())
	if err != nil {
		panic("fence of upstream " + s.dialled() + ": " + err.Error())
	}
	defer func() { _ = c.Close() }()
	if s.kind == UDP {
		_, _ = io.WriteString(c, fenceDatagram)
	}
	s.awaitFence(ctx, before, c.LocalAddr().String())
	return s.count()
}

// awaitFence waits until the address is among the later arrivals and marks it.
func (s *Server) awaitFence(ctx context.Context, before int, own string) {
	stop := context.AfterFunc(ctx, s.wake)
	defer stop()
	s.mu.Lock()
	defer s.mu.Unlock()
	for {
		for i := before; i < len(s.arrivals); i++ {
			if s.arrivals[i].remote == own {
				s.arrivals[i].fence = true
				return
			}
		}
		if err := ctx.Err(); err != nil {
			panic("fence of upstream " + s.dialled() + ": " + err.Error())
		}
		s.changed.Wait()
	}
}

func (s *Server) wake() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.changed.Broadcast()
}
