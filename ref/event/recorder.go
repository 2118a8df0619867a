package event

import (
	"encoding/json"
	"fmt"
	"io"
	"sync"
	"time"
)

// Recorder writes events as JSON lines. It is safe for concurrent use; a nil
// Recorder drops everything, so that a library user need not have one.
type Recorder struct {
	mu   sync.Mutex
	out  []io.Writer
	err  error
	lost chan struct{} // closed with the first error
}

// NewRecorder writes every event to each of the writers, in one Write a line. A
// writer that can block for good blocks everything that has something to tell.
func NewRecorder(out ...io.Writer) *Recorder {
	return &Recorder{out: out, lost: make(chan struct{})}
}

// Emit writes e with the time of the call. The first failed write is kept for
// [Recorder.Err]: a phase whose events are lost must not end as a success.
func (r *Recorder) Emit(e Event) {
	if r == nil {
		return
	}
	line, err := marshal(e, time.Now())
	r.mu.Lock()
	defer r.mu.Unlock()
	if err != nil {
		r.keep(err)
		return
	}
	for _, w := range r.out {
		if _, err := w.Write(line); err != nil {
			r.keep(fmt.Errorf("write event %s: %w", e.Kind(), err))
		}
	}
}

// Lost is closed once a write has failed; [Recorder.Err] has the error then.
func (r *Recorder) Lost() <-chan struct{} {
	if r == nil {
		return nil
	}
	return r.lost
}

// Err returns the first error that a write met.
func (r *Recorder) Err() error {
	if r == nil {
		return nil
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.err
}

func (r *Recorder) keep(err error) {
	if r.err == nil {
		r.err = err
		close(r.lost)
	}
}

// marshal puts time, kind and duration in front of the event's own keys.
func marshal(e Event, at time.Time) ([]byte, error) {
	head := struct {
		Time   time.Time `json:"time"`
		Kind   string    `json:"event"`
		TookMS *int64    `json:"took_ms,omitempty"`
	}{Time: at.UTC(), Kind: e.Kind()}
	if d, ok := took(e); ok {
		ms := d.Milliseconds()
		head.TookMS = &ms
	}
	first, err := json.Marshal(head)
	if err != nil {
		return nil, fmt.Errorf("encode event %s: %w", e.Kind(), err)
	}
	rest, err := json.Marshal(e)
	if err != nil {
		return nil, fmt.Errorf("encode event %s: %w", e.Kind(), err)
	}
	if len(rest) > 2 { // more than {}
		first = append(append(first[:len(first)-1], ','), rest[1:]...)
	}
	return append(first, '\n'), nil
}

func took(e Event) (time.Duration, bool) {
	switch e := e.(type) {
	case ServerProgress:
		return e.Took, true
	case ServerStarted:
		return e.Took, true
	case ServerStopped:
		return e.Took, true
	}
	return 0, false
}
