package adapter

import (
	"sync"
)

// maxQueued bounds what waits for a client that reads slowly.
const (
	maxQueuedMessages = 10_000
	maxQueuedBytes    = 128 << 20
)

// event is one message on its way to the client.
type event struct {
	raw      []byte
	response bool
	last     bool // the stream ends with it
	code     int  // of an error response, 0 otherwise
}

// stream is what one HTTP response carries. The server's side never waits for
// the client's: one client that does not read must not hold up the others.
type stream struct {
	wake chan struct{} // has room for one: something has changed

	mu     sync.Mutex
	queue  []event
	bytes  int
	ended  bool          // nothing more will come
	reader chan struct{} // of the response that reads; closed when another takes over
}

func newStream() *stream { return &stream{wake: make(chan struct{}, 1)} }

// push adds a message. It returns false when the stream has ended or is full;
// a full stream ends.
func (s *stream) push(e event) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ended {
		return false
	}
	if len(s.queue) >= maxQueuedMessages || s.bytes+len(e.raw) > maxQueuedBytes {
		s.ended = true
	} else {
		s.queue = append(s.queue, e)
		s.bytes += len(e.raw)
		s.ended = e.last
		s.signal()
		return true
	}
	s.signal()
	return false
}

// end lets the response finish after what is queued.
func (s *stream) end() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ended = true
	s.signal()
}

func (s *stream) signal() {
	select {
	case s.wake <- struct{}{}:
	default:
	}
}

// take returns what is queued and whether that was the last.
func (s *stream) take() (queued []event, ended bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	queued, s.queue, s.bytes = s.queue, nil, 0
	return queued, s.ended
}

// attach makes the caller the one that reads; a former reader is told by its
// channel. Pass the result to detach.
func (s *stream) attach() chan struct{} {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.reader != nil {
		close(s.reader)
	}
	s.reader = make(chan struct{})
	s.signal()
	return s.reader
}

// detach ends the caller's turn; it returns false when another has taken over.
func (s *stream) detach(reader chan struct{}) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.reader != reader {
		return false
	}
	s.reader = nil
	return true
}

// attached tells whether somebody reads.
func (s *stream) attached() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.reader != nil
}
