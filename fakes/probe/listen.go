package probe

import (
	"context"
	"errors"
	"io"
	"net"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"bridgecheck/fakes/attempt"
)

// listener accepts and echoes, or relays, until it is closed.
type listener struct {
	socket   io.Closer
	forward  string // the address that streams are relayed to
	accepted atomic.Int64

	mu     sync.Mutex
	open   map[net.Conn]struct{}
	closed bool
	done   sync.WaitGroup
}

func (p *Probe) listen(ctx context.Context, a attempt.Attempt) attempt.Observation {
	if a.Conn == "" {
		return refused("listen needs a conn to be closed by")
	}
	l := &listener{open: map[net.Conn]struct{}{}}
	var config net.ListenConfig
	switch {
	case len(a.Args) == 1 && a.Args[0] == "reuseport":
		config.Control = reusePort
	case len(a.Args) == 2 && a.Args[0] == "forward":
		l.forward = a.Args[1]
	case len(a.Args) != 0:
		return refused("listen with %q", a.Args)
	}
	var local net.Addr
	switch a.Network {
	case "tcp", "tcp4", "tcp6", "unix", "unixpacket":
		socket, err := config.Listen(ctx, a.Network, a.Address)
		if err != nil {
			return failed(err)
		}
		l.socket, local = socket, socket.Addr()
		l.done.Go(func() { l.accept(socket) })
	case "udp", "udp4", "udp6", "unixgram":
		socket, err := config.ListenPacket(ctx, a.Network, a.Address)
		if err != nil {
			return failed(err)
		}
		l.socket, local = socket, socket.LocalAddr()
		l.done.Go(func() { l.echoPackets(socket) })
	default:
		return refused("cannot listen on network %q", a.Network)
	}
	p.keep(a.Conn, l)
	return attempt.Observation{Local: address(local)}
}

// Close ends the listener and what it accepted, and waits for its goroutines.
func (l *listener) Close() error {
	err := l.socket.Close()
	l.mu.Lock()
	l.closed = true
	for c := range l.open {
		_ = c.Close()
	}
	l.mu.Unlock()
	l.done.Wait()
	return err
}

// acceptPause is the wait after an accept that failed.
const acceptPause = 5 * time.Millisecond

func (l *listener) accept(socket net.Listener) {
	for {
		c, err := socket.Accept()
		if errors.Is(err, net.ErrClosed) {
			return
		}
		if err != nil { // out of descriptors, as a test may want: the next may work
			time.Sleep(acceptPause)
			continue
		}
		l.accepted.Add(1)
		l.hold(c)
		l.done.Go(func() { l.serve(c) })
	}
}

// hold notes a connection for Close; one that comes too late is closed at once.
func (l *listener) hold(c net.Conn) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		_ = c.Close()
		return
	}
	l.open[c] = struct{}{}
}

// drop closes a connection and forgets it.
func (l *listener) drop(c net.Conn) {
	_ = c.Close()
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.open, c)
}

// serve echoes or relays one stream.
func (l *listener) serve(c net.Conn) {
	defer l.drop(c)
	if l.forward == "" {
		_, _ = io.Copy(c, c)
		return
	}
	if far, err := net.Dial("tcp", l.forward); err == nil {
		l.hold(far)
		defer l.drop(far)
		relay(c, far)
	}
}

// relay copies both ways and carries each half-close over.
func relay(near, far net.Conn) {
	var there sync.WaitGroup
	there.Go(func() {
		_, _ = io.Copy(far, near)
		_ = closeWrite(far)
	})
	_, _ = io.Copy(near, far)
	_ = closeWrite(near)
	there.Wait()
}

// reusePort sets SO_REUSEPORT (socket(7)) before the bind, as somebody would
// who wants to share, and take, the port of another.
func reusePort(_, _ string, raw syscall.RawConn) error {
	var err error
	controlErr := raw.Control(func(fd uintptr) {
		err = unix.SetsockoptInt(int(fd), unix.SOL_SOCKET, unix.SO_REUSEPORT, 1)
	})
	return errors.Join(controlErr, err)
}

func (l *listener) echoPackets(socket net.PacketConn) {
	buffer := make([]byte, 64<<10)
	for {
		n, from, err := socket.ReadFrom(buffer)
		if err != nil {
			return
		}
		l.accepted.Add(1)
		if from != nil { // an unbound unixgram sender cannot be answered
			_, _ = socket.WriteTo(buffer[:n], from)
		}
	}
}
