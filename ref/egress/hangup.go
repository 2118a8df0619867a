package egress

import (
	"errors"
	"io"
	"net"
	"os"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// rawConn is the descriptor of a connection, nil if it has none.
func rawConn(c net.Conn) syscall.RawConn {
	sc, ok := c.(syscall.Conn)
	if !ok {
		return nil
	}
	rc, err := sc.SyscallConn()
	if err != nil {
		return nil
	}
	return rc
}

// watchHangup calls gone when the peer has closed both directions, or reset:
// not when it only ended its own. On a Unix socket that is known at once; a TCP
// peer's close looks like half of one until a write or a keep-alive probe is
// answered by a reset. No byte is read. Nothing else may read meanwhile; stop
// returns when reading is free again.
func watchHangup(c net.Conn, gone func()) (stop func()) {
	rc := rawConn(c)
	if rc == nil {
		return func() {}
	}
	c.SetReadDeadline(time.Time{})
	done := make(chan struct{})
	go func() {
		defer close(done)
		err := rc.Read(hungUp)
		if !errors.Is(err, os.ErrDeadlineExceeded) {
			gone()
		}
	}()
	return sync.OnceFunc(func() {
		c.SetReadDeadline(time.Unix(1, 0))
		<-done
		c.SetReadDeadline(time.Time{})
	})
}

func hungUp(fd uintptr) bool {
	fds := []unix.PollFd{{Fd: int32(fd)}} // POLLHUP and POLLERR need no asking
	n, err := unix.Poll(fds, 0)
	return err == nil && n > 0 && fds[0].Revents&(unix.POLLHUP|unix.POLLERR|unix.POLLNVAL) != 0
}

type writeCloser interface{ CloseWrite() error }

// closeWrite ends our direction and keeps the other; without such a thing it
// ends both.
func closeWrite(c io.Closer) error {
	if w, ok := c.(writeCloser); ok {
		return w.CloseWrite()
	}
	return c.Close()
}

// linger lets a client read the last answer: closing with unread bytes would
// reset the connection and lose it (RFC 9112 section 9.6). It reads what still
// comes until the client ends, is silent for a while, or the time is over.
func linger(c net.Conn, atMost time.Duration) {
	const silence = 2 * time.Second
	if closeWrite(c) != nil {
		return
	}
	end := time.Now().Add(atMost)
	buf := buffers.Get().(*[]byte)
	defer buffers.Put(buf)
	for now := time.Now(); now.Before(end); now = time.Now() {
		deadline := now.Add(silence)
		if deadline.After(end) {
			deadline = end
		}
		c.SetReadDeadline(deadline)
		if _, err := c.Read(*buf); err != nil {
			return
		}
	}
}

// How long a client may go on sending after the last answer: the rest of a
// request, or of an upload that was refused.
const (
	lingerHead   = 2 * time.Second
	lingerUpload = 30 * time.Second
)

// buffers are lent for the time of one read and write, so that an idle tunnel
// holds none.
var buffers = sync.Pool{New: func() any { b := make([]byte, 128<<10); return &b }}
