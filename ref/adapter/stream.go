package adapter

import (
	"sync"
)

// The bounds of what waits for a client that reads slowly, of what waits while
// nobody reads at all, and of what is kept for a client that resumes.
const (
	maxQueued      = 10_000
	maxQueuedBytes = 128 << 20
	maxUnread      = 256
	maxKept        = 64
	maxKeptBytes   = 4 << 20
)

// event is one message on its way to the client.
type event struct {
	raw      []byte
	response bool
	last     bool // the stream ends with it
	code     int  // of an error response, 0 otherwise
}

// stream is what one HTTP response carries, or several one after the other when
// the client reconnects. The server's side never waits for the client's: one
// client that does not read must not hold up the others.
type stream struct {
	id   string        // for event ids; empty when the stream cannot be resumed
	wake chan struct{} // has room for one: something has changed

	mu     sync.Mutex
	log    []event
	first  int // number of log[0]; numbers begin at 1
	next   int // number of the first event that has not been taken
	kept   int // bytes of log before next
	queued int // bytes of log from next on
	ended  bool
	full   bool          // the client was too slow; it may come back
	reader chan struct{} // of the response that reads; closed when another takes over
}

func newStream(id string) *stream {
	return &stream{id: id, wake: make(chan struct{}, 1), first: 1, next: 1}
}

// push adds a message. It returns false when the stream has ended, or ends now
// because its client does not keep up. While nobody reads, the oldest gives way.
func (s *stream) push(e event) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	defer s.signal()
	if s.ended || s.full {
		return false
	}
	waiting := len(s.log) - (s.next - s.first)
	switch {
	case s.reader == nil && waiting >= maxUnread:
		s.queued -= len(s.log[s.next-s.first].raw)
		s.kept += len(s.log[s.next-s.first].raw)
		s.next++
	case waiting >= maxQueued, s.queued+len(e.raw) > maxQueuedBytes:
		s.full = true
		return false
	}
	s.log = append(s.log, e)
	s.queued += len(e.raw)
	s.ended = e.last
	s.trim()
	return true
}

// trim forgets what has been taken and is too old to be resumed from.
func (s *stream) trim() {
	for n := s.next - s.first; n > 0 && (s.id == "" || n > maxKept || s.kept > maxKeptBytes); n-- {
		s.kept -= len(s.log[0].raw)
		s.log[0] = event{} // the array lives on
		s.log = s.log[1:]
		s.first++
	}
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

// take gives the one that reads what is queued, the number of the first of it,
// and whether nothing will follow. Who was taken over gets nothing: what it took
// would go to a client that has left. It may have had the new reader's wake-up,
// which is passed on.
func (s *stream) take(reader <-chan struct{}) (queued []event, number int, ended bool, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.reader != reader {
		s.signal()
		return nil, 0, false, errTakenOver
	}
	queued = append(queued, s.log[s.next-s.first:]...)
	number = s.next
	s.next += len(queued)
	s.kept += s.queued
	s.queued = 0
	s.trim()
	return queued, number, s.ended || s.full, nil
}

// attach makes the caller the one that reads; a former reader is told by its
// channel. after is the number of the last event the client has, or -1 to go on
// where the last reader was. Pass the result to detach.
func (s *stream) attach(after int) chan struct{} {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.reader != nil {
		close(s.reader)
	}
	s.reader = make(chan struct{})
	s.full = false
	if after >= 0 {
		s.rewind(after + 1)
	}
	s.signal()
	return s.reader
}

// rewind makes number the next event, as far as it is still kept.
func (s *stream) rewind(number int) {
	number = min(max(number, s.first), s.first+len(s.log))
	s.kept, s.queued = 0, 0
	for i, e := range s.log {
		if s.first+i < number {
			s.kept += len(e.raw)
		} else {
			s.queued += len(e.raw)
		}
	}
	s.next = number
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

// withdraw takes back an event that nobody has taken.
func (s *stream) withdraw(raw []byte) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i := s.next - s.first; i < len(s.log); i++ {
		if e := s.log[i]; &e.raw[0] == &raw[0] {
			s.queued -= len(raw)
			s.log = append(s.log[:i:i], s.log[i+1:]...)
			return true
		}
	}
	return false
}
