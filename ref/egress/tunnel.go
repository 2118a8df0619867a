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
	in := newLender(src)
	defer in.release()
	for {
		p, err := in.read()
		if len(p) > 0 {
			t.touch()
			if _, err := dst.Write(p); err != nil {
				return
			}
			t.touch()
		}
		switch err {
		case nil:
		case io.EOF:
			_ = closeWrite(dst)
			return
		default:
			abort()
			return
		}
	}
}

// lender reads into buffers that it holds only while there are bytes: 10 000
// idle tunnels hold none. That takes a descriptor to wait on; without one the
// buffer is held all the time.
type lender struct {
	src   io.Reader
	raw   syscall.RawConn
	try   func(fd uintptr) bool // made once: a closure for each read is garbage
	buf   *[]byte
	n     int
	errno error
}

func newLender(src io.Reader) *lender {
	l := &lender{src: src}
	if c, ok := src.(net.Conn); ok {
		l.raw = rawConn(c)
	}
	l.try = l.readFD
	return l
}

// read returns bytes that are valid until the next call.
func (l *lender) read() ([]byte, error) {
	if l.raw == nil {
		l.lend()
		n, err := l.src.Read(*l.buf)
		return (*l.buf)[:n], err
	}
	l.n, l.errno = 0, nil
	err := l.raw.Read(l.try)
	switch {
	case err != nil:
		return nil, err
	case l.errno != nil:
		return nil, l.errno
	case l.n == 0:
		return nil, io.EOF
	}
	return (*l.buf)[:l.n], nil
}

func (l *lender) readFD(fd uintptr) bool {
	l.lend()
	for {
		l.n, l.errno = unix.Read(int(fd), *l.buf)
		if l.errno != unix.EINTR {
			break
		}
	}
	if l.errno == unix.EAGAIN {
		l.release()
		return false
	}
	return true
}

func (l *lender) lend() {
	if l.buf == nil {
		l.buf = buffers.Get().(*[]byte)
	}
}

func (l *lender) release() {
	if l.buf != nil {
		buffers.Put(l.buf)
		l.buf = nil
	}
}

// reset closes so that the peer sees an error rather than an end.
func reset(c io.Closer) {
	if t, ok := c.(*net.TCPConn); ok {
		t.SetLinger(0)
	}
	c.Close()
}
