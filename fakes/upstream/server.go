// Package upstream makes the far sides of the lab: servers that count who
// reached them and keep what they were sent. A check asks them for the facts
// that no client can be trusted with: nobody came, or these bytes arrived.
package upstream

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"time"
)

// Kind is how a server treats what reaches it.
type Kind string

// The kinds.
const (
	// HTTP answers HTTP/1.1 and records each request; see [Server.Requests].
	HTTP Kind = "http"
	// TLS is HTTP behind TLS, with a certificate for any name by [CA].
	TLS Kind = "tls"
	// RawEcho sends back what comes, and its end when the client ends.
	RawEcho Kind = "raw-echo"
	// SpeaksFirst sends [Banner] at once and then echoes.
	SpeaksFirst Kind = "speaks-first"
	// EndsFirst sends [Banner], ends its own direction and goes on reading.
	EndsFirst Kind = "ends-first"
	// Silent accepts, reads and never sends.
	Silent Kind = "silent"
	// Sink reads to the client's end and only then answers "BYTES SHA256\n".
	Sink Kind = "sink"
	// Source reads "SIZE SEED" to the client's end and only then sends that
	// much of content.Reader.
	Source Kind = "source"
	// Ticker sends a byte every 100 ms and never minds what comes.
	Ticker Kind = "ticker"
	// BlackHole never answers a SYN: its accept queue is full for good.
	BlackHole Kind = "black-hole"
	// UDP echoes datagrams; each counts as a connection.
	UDP Kind = "udp"
)

// Banner is what a server that speaks first says.
const Banner = "220 upstream ready\r\n"

// Server is one running upstream. Its methods may be called from anywhere.
type Server struct {
	kind    Kind
	network string // tcp, udp, unix
	addr    netip.AddrPort
	path    string // of a Unix socket

	ctx  context.Context // ends with Close
	stop context.CancelFunc
	done sync.WaitGroup

	// fence is held while a connection of our own is under way.
	fence sync.RWMutex

	mu       sync.Mutex
	changed  *sync.Cond // with mu: somebody came
	arrivals []arrival
	requests []Request
	closers  []func()
}

// Start starts a server of the kind on addr: IP:PORT, port 0 for any free one, or
// unix:PATH for all kinds but UDP and BlackHole.
func Start(addr string, kind Kind) (*Server, error) {
	path, isUnix := strings.CutPrefix(addr, "unix:")
	where, err := netip.ParseAddrPort(addr)
	if err != nil && !isUnix {
		return nil, fmt.Errorf("start %s upstream: %w; use IP:PORT or unix:PATH", kind, err)
	}
	s := &Server{kind: kind, network: "tcp", path: path}
	s.changed = sync.NewCond(&s.mu)
	s.ctx, s.stop = context.WithCancel(context.Background())
	switch {
	case isUnix && (kind == UDP || kind == BlackHole):
		err = errors.New("this kind has no Unix socket")
	case isUnix:
		s.network = "unix"
		err = s.startStream(path)
	case kind == UDP:
		s.network = "udp"
		err = s.startUDP(where)
	default:
		err = s.startStream(where.String())
	}
	if err != nil {
		s.Close()
		return nil, fmt.Errorf("start %s upstream on %s: %w", kind, addr, err)
	}
	return s, nil
}

// startStream listens and hands each connection to the kind's handler.
func (s *Server) startStream(where string) error {
	handlers := map[Kind]func(*stream){
		RawEcho: echo, SpeaksFirst: speakFirst, EndsFirst: endFirst, Silent: discard,
		Sink: sink, Source: source, Ticker: s.tick,
	}
	handle, raw := handlers[s.kind]
	if !raw && s.kind != HTTP && s.kind != TLS && s.kind != BlackHole {
		return fmt.Errorf("unknown kind")
	}
	socket, err := new(net.ListenConfig).Listen(s.ctx, s.network, where)
	if err != nil {
		return err
	}
	s.atClose(func() { _ = socket.Close() })
	if tcp, isTCP := socket.Addr().(*net.TCPAddr); isTCP {
		s.addr = tcp.AddrPort()
	}
	counted := &listener{Listener: socket, server: s}
	switch {
	case s.kind == BlackHole:
		return s.fillBacklog(socket.(*net.TCPListener))
	case raw:
		s.done.Go(func() { s.serveRaw(counted, handle) })
		return nil
	}
	return s.serveHTTP(counted)
}

// acceptPause is the wait after an accept that failed.
const acceptPause = 5 * time.Millisecond

// serveRaw runs the handler on each connection until the listener closes.
func (s *Server) serveRaw(socket net.Listener, handle func(*stream)) {
	for {
		c, err := socket.Accept()
		if errors.Is(err, net.ErrClosed) {
			return
		}
		if err != nil { // out of descriptors, as a test may want: the next may work
			time.Sleep(acceptPause)
			continue
		}
		s.done.Go(func() {
			handle(c.(*stream))
			_ = c.Close()
		})
	}
}

// Addr is where the server listens, invalid for one on a Unix socket.
func (s *Server) Addr() netip.AddrPort { return s.addr }

// dialled is what the fence dials.
func (s *Server) dialled() string {
	if s.network == "unix" {
		return s.path
	}
	return s.addr.String()
}

// Kind is what it was started as.
func (s *Server) Kind() Kind { return s.kind }

// atClose adds what Close does, last in first out.
func (s *Server) atClose(f func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closers = append(s.closers, f)
}

// Close ends the server and every connection and waits for its goroutines. A
// second call does nothing.
func (s *Server) Close() {
	s.stop()
	s.mu.Lock()
	closers := s.closers
	s.closers = nil
	arrivals := s.arrivals
	s.changed.Broadcast()
	s.mu.Unlock()
	for _, end := range slices.Backward(closers) {
		end()
	}
	for _, a := range arrivals {
		if a.stream != nil {
			_ = a.stream.Close()
		}
	}
	s.done.Wait()
}
