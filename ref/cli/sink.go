package cli

import (
	"errors"
	"fmt"
	"os"
	"sync"
	"time"
)

// patience is how long a reader of events may leave one unread. It holds up
// everything that has something to tell for so long, once.
var patience = 5 * time.Second

// sink writes whole lines to a descriptor, each within patience. After the first
// failure it writes nothing: what a reader has missed cannot be made good.
type sink struct {
	mu   sync.Mutex
	file *os.File
	err  error
}

func (s *sink) Write(line []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.err != nil {
		return 0, s.err
	}
	// A regular file knows no deadline, and needs none.
	_ = s.file.SetWriteDeadline(time.Now().Add(patience))
	n, err := s.file.Write(line)
	if errors.Is(err, os.ErrDeadlineExceeded) {
		err = fmt.Errorf("%s: not read for %v; its reader must keep up: %w", s.file.Name(), patience, err)
	}
	s.err = err
	return n, err
}
