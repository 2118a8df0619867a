package upstream

import (
	"context"
	"fmt"
	"net"
	"os"

	"golang.org/x/sys/unix"
)

// fillBacklog makes the listener drop every further SYN without an answer. A
// second listen(2) sets the backlog to zero, at which Linux queues exactly one
// connection (the queue is full when it is longer than the backlog): ours, which
// nobody accepts. It needs no privilege, unlike a packet filter; it does need
// net.ipv4.tcp_abort_on_overflow to be 0, as it is by default.
func (s *Server) fillBacklog(socket *net.TCPListener) error {
	raw, err := socket.SyscallConn()
	if err != nil {
		return err
	}
	var listenErr error
	if err := raw.Control(func(fd uintptr) { listenErr = unix.Listen(int(fd), 0) }); err != nil {
		return err
	}
	if listenErr != nil {
		return os.NewSyscallError("listen", listenErr)
	}
	ctx, cancel := context.WithTimeout(s.ctx, fenceTimeout)
	defer cancel()
	stopper, err := new(net.Dialer).DialContext(ctx, "tcp", s.addr.String())
	if err != nil {
		return fmt.Errorf("fill the accept queue: %w", err)
	}
	s.atClose(func() { _ = stopper.Close() })
	return nil
}
