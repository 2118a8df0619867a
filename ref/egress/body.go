package egress

import (
	"errors"
	"io"
	"net"
	"sync"
	"sync/atomic"
	"time"
)

// requestBody is the body of one request. The reader can be taken away from a
// handler that has returned, even while a transport still reads.
type requestBody struct {
	io.Reader
	conn    net.Conn
	idle    time.Duration
	proceed func() // answers an expectation before the first read, or nil
	atEnd   func() // called once when the end was read

	stopped atomic.Bool
	mu      sync.Mutex
	ended   bool
}

var errBodyStopped = errors.New("read of a request body after its handler returned")

func (b *requestBody) Read(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.proceed != nil && !b.stopped.Load() {
		b.proceed()
		b.proceed = nil
	}
	b.conn.SetReadDeadline(time.Now().Add(b.idle))
	if b.stopped.Load() { // after the deadline, so that stop's cannot be undone
		return 0, errBodyStopped
	}
	n, err := b.Reader.Read(p)
	if err == io.EOF && !b.ended {
		b.ended = true
		b.atEnd()
	}
	return n, bodyError(err)
}

// bodyError makes a fault of the framing the client's, who would otherwise be
// told that the upstream has failed. What the connection met stays as it is.
func bodyError(err error) error {
	var network net.Error
	if err == nil || err == io.EOF || errors.As(err, &network) || errors.Is(err, net.ErrClosed) {
		return err
	}
	return malformed("the request body cannot be read: %v", err)
}

// Close leaves the rest where it is: the connection deals with it.
func (b *requestBody) Close() error { return nil }

// stop waits for a read in progress to give up and forbids further ones; it
// reports whether the whole body was read.
func (b *requestBody) stop() bool {
	b.stopped.Store(true)
	b.conn.SetReadDeadline(time.Unix(1, 0))
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.ended
}
