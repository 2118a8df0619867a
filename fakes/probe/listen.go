package probe

import (
	"context"
	"io"
	"net"
	"sync"
	"sync/atomic"

	"bridgecheck/fakes/attempt"
)

// listener accepts and echoes until it is closed.
type listener struct {
	socket   io.Closer
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

func (l *listener) accept(socket net.Listener) {
	for {
		c, err := socket.Accept()
		if err != nil {
			return
		}
		l.accepted.Add(1)
		l.mu.Lock()
		if l.closed {
			l.mu.Unlock()
			_ = c.Close()
			return
		}
		l.open[c] = struct{}{}
		l.mu.Unlock()
		l.done.Go(func() { l.echo(c) })
	}
}

// echo sends back what comes and carries the half-close over.
func (l *listener) echo(c net.Conn) {
	_, _ = io.Copy(c, c)
	_ = c.Close()
	l.mu.Lock()
	delete(l.open, c)
	l.mu.Unlock()
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
