package cli

import (
	"fmt"
	"io"
	"os"
	"slices"
	"sync"
	"time"
)

// errOut is where this program says something itself. The agent has the same
// stderr: making the descriptor non-blocking would change it for the agent too.
var errOut = &lossy{out: os.Stderr}

// lossy writes whole lines that nothing depends on. A line that is not taken
// within patience holds its writer up no longer, and those after it are dropped
// and counted until it is taken. Each such wait is half as long as the one
// before: a reader that is slow for good costs the bridge two of the first.
type lossy struct {
	out io.Writer

	mu    sync.Mutex
	stuck chan struct{} // closed when the write that nobody waits for is done
	lost  int
	waits int // that were in vain
}

// Write never fails: there is nobody else to tell.
func (l *lossy) Write(line []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.stuck != nil {
		select {
		case <-l.stuck:
			l.stuck = nil
		default:
			l.lost++
			return len(line), nil
		}
	}
	text := slices.Clone(line) // it may be written when this has returned
	if l.lost > 0 {
		text = append(fmt.Appendf(nil, "refbridge: %d messages were lost here, since nobody read them\n", l.lost), text...)
		l.lost = 0
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		_, _ = l.out.Write(text)
	}()
	timer := time.NewTimer(max(patience>>l.waits, time.Millisecond))
	defer timer.Stop()
	select {
	case <-done:
	case <-timer.C:
		l.stuck = done
		l.waits++
	}
	return len(line), nil
}
