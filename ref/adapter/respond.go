package adapter

import (
	"errors"
	"fmt"
	"net/http"
	"time"
)

// The times of a response.
const (
	// patience is how long an answer is awaited before the response becomes a
	// stream: until then it can still be plain JSON with the right status.
	patience = time.Second
	// writeBound is how long a client may leave a write unread.
	writeBound = 30 * time.Second
)

// probes are the pauses between comments once the client's side of the
// connection has ended. It may have closed only its half and still read: a
// write tells, at the latest the one after the peer's reset has come.
var probes = []time.Duration{0, 20 * time.Millisecond, 200 * time.Millisecond, time.Second}

// errTakenOver means that another response reads the stream now.
var errTakenOver = errors.New("stream was taken over")

// responder writes one HTTP response from a stream.
type responder struct {
	w         http.ResponseWriter
	ctl       *http.ResponseController
	heartbeat time.Duration
	status    func(event) int // of a response that is the only message
	single    bool            // a lone response may be plain JSON
	preface   string          // what a stream begins with
	started   bool
	stream    *stream
	number    int // of the last event that was written
}

// run relays s until it ends. It returns an error when the client has gone or
// another response reads now.
func (p *responder) run(r *http.Request, s *stream, reader <-chan struct{}) error {
	p.ctl, p.stream = http.NewResponseController(p.w), s
	defer func() { _ = p.ctl.SetWriteDeadline(time.Time{}) }()
	timer := time.NewTimer(patience)
	defer timer.Stop()
	gone, probe := r.Context().Done(), -1
	if !p.single { // a stream from the start: its first bytes must not wait for a message
		if err := p.comment(); err != nil {
			return err
		}
		timer.Reset(p.heartbeat)
	}
	for {
		queued, number, ended, err := s.take(reader)
		if err != nil {
			return err
		}
		if err := p.write(queued, number, ended); err != nil || ended {
			return err
		}
		select {
		case <-s.wake:
			continue
		case <-reader:
			return errTakenOver
		case <-gone:
			gone, probe = nil, 0
		case <-timer.C:
			if err := p.comment(); err != nil {
				return err
			}
			if probe >= 0 {
				probe = min(probe+1, len(probes)-1)
			}
		}
		if probe >= 0 {
			timer.Reset(probes[probe])
		} else {
			timer.Reset(p.heartbeat)
		}
	}
}

// write sends the messages, as plain JSON when it is one answer and no stream
// has begun.
func (p *responder) write(queued []event, number int, ended bool) error {
	if p.single && !p.started && ended && len(queued) == 1 && queued[0].response {
		_ = p.ctl.SetWriteDeadline(time.Now().Add(writeBound))
		writeJSON(p.w, p.status(queued[0]), queued[0].raw)
		return nil
	}
	p.number = number - 1
	for _, e := range queued {
		if err := p.event(e.raw); err != nil {
			return err
		}
	}
	if ended {
		p.begin()
	}
	return nil
}

// begin sends the head of a stream; no intermediary may hold it back or change it.
func (p *responder) begin() []byte {
	if p.started {
		return nil
	}
	p.started = true
	h := p.w.Header()
	h.Set("Content-Type", "text/event-stream")
	h.Set("Cache-Control", "no-store, no-transform")
	h.Set("X-Accel-Buffering", "no")
	p.w.WriteHeader(http.StatusOK)
	return []byte(p.preface)
}

// id is the field with the id of the event that was written last; a client
// that comes back names it.
func (p *responder) id() string {
	if p.stream.id == "" {
		return ""
	}
	return fmt.Sprintf("id: %s-%d\n", p.stream.id, p.number)
}

func (p *responder) event(raw []byte) error {
	head := p.begin()
	p.number++
	return p.send(head, []byte("event: message\n"+p.id()+"data: "), raw, []byte("\n\n"))
}

func (p *responder) comment() error { return p.send(p.begin(), []byte(":\n\n")) }

func (p *responder) send(parts ...[]byte) error {
	_ = p.ctl.SetWriteDeadline(time.Now().Add(writeBound)) // not every writer has deadlines
	for _, part := range parts {
		if _, err := p.w.Write(part); err != nil {
			return err
		}
	}
	if err := p.ctl.Flush(); err != nil && !errors.Is(err, http.ErrNotSupported) {
		return err
	}
	return nil
}
