package egress

import (
	"io"
	"net"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// tunnel carries bytes both ways until both directions have ended. The end of
// one is passed on as the end of one; an error ends both. first is what the
// client has sent already; it runs beside the other direction, since a server
// may speak first. Both are left open or half open for the caller to close. It
// reports whether the idle limit ended it.
func tunnel(client, server io.ReadWriteCloser, first func() error, idle time.Duration) (idled bool) {
	t := &tunnelState{}
	t.touch()
	var once sync.Once
	abort := func() { once.Do(func() { reset(client); reset(server) }) }
	var timer *time.Timer
	var mu sync.Mutex // orders the timer's own reset with the end
	mu.Lock()
	timer = time.AfterFunc(idle, func() {
		mu.Lock()
		defer mu.Unlock()
		if left := idle - time.Since(time.Unix(0, t.last.Load())); left > 0 && !t.over {
			timer.Reset(left)
			return
		}
		if !t.over {
			idled = true
			abort()
		}
	})
	mu.Unlock()
	var wg sync.WaitGroup
	wg.Go(func() {
		if err := first(); err != nil {
			abort()
			return
		}
		t.half(server, client, abort)
	})
	t.half(client, server, abort)
	wg.Wait()
	mu.Lock()
	t.over = true
	timer.Stop()
	mu.Unlock()
	return idled
}

type tunnelState struct {
	last atomic.Int64 // when bytes last moved, in either direction
	over bool
}

func (t *tunnelState) touch() { t.last.Store(time.Now().UnixNano()) }

// half copies one direction. A peer that reset is passed on as a reset, since
// an end would make a cut answer look whole. A peer that takes no more bytes
// ends this direction only: what it sent before can still be delivered.
func (t *tunnelState) half(dst, src io.ReadWriteCloser, abort func()) {
	read := reader(src)
	for {
		err := read(func(p []byte) error {
			t.touch()
			_, err := dst.Write(p)
			t.touch()
			return err
		})
		switch err {
		case nil:
		case io.EOF:
			closeWrite(dst)
			return
		default:
			if _, ok := err.(writeError); !ok {
				abort()
			}
			return
		}
	}
}

// writeError is the other side's error.
type writeError struct{ error }

// reader returns a function that reads once and hands the bytes to take. With a
// descriptor below, a buffer is held only while there are bytes: 10 000 idle
// tunnels hold none.
func reader(src io.Reader) func(take func([]byte) error) error {
	if rc := rawReader(src); rc != nil {
		return func(take func([]byte) error) error { return readRaw(rc, take) }
	}
	return func(take func([]byte) error) error {
		buf := buffers.Get().(*[]byte)
		defer buffers.Put(buf)
		n, err := src.Read(*buf)
		if n > 0 {
			if err := take((*buf)[:n]); err != nil {
				return writeError{err}
			}
		}
		return err
	}
}

// rawReader is the descriptor to read from, nil if there is none or bytes wait
// in front of it.
func rawReader(src io.Reader) syscall.RawConn {
	c, ok := src.(net.Conn)
	if !ok {
		return nil
	}
	return rawConn(c)
}

func readRaw(rc syscall.RawConn, take func([]byte) error) error {
	var buf *[]byte
	var n int
	var errno error
	err := rc.Read(func(fd uintptr) bool {
		buf = buffers.Get().(*[]byte)
		for {
			n, errno = unix.Read(int(fd), *buf)
			if errno != unix.EINTR {
				break
			}
		}
		if errno == unix.EAGAIN {
			buffers.Put(buf)
			buf = nil
			return false
		}
		return true
	})
	if buf != nil {
		defer buffers.Put(buf)
	}
	switch {
	case err != nil:
		return err
	case errno != nil:
		return errno
	case n == 0:
		return io.EOF
	}
	if err := take((*buf)[:n]); err != nil {
		return writeError{err}
	}
	return nil
}

// reset closes so that the peer sees an error rather than an end.
func reset(c io.Closer) {
	if t, ok := c.(*net.TCPConn); ok {
		t.SetLinger(0)
	}
	c.Close()
}
