package cli

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"sync"
)

// progress is a sink of events that tells a person what a start waits for. It
// is silent once the agent runs: the terminal is the agent's then.
type progress struct {
	log   *personLog
	ready bool
}

// Write takes one event, as the recorder writes it.
func (p *progress) Write(line []byte) (int, error) {
	var e struct {
		Event  string `json:"event"`
		Server string `json:"server"`
		TookMS int64  `json:"took_ms"`
	}
	if err := json.Unmarshal(line, &e); err != nil {
		return 0, fmt.Errorf("read event: %w", err)
	}
	seconds := float64(e.TookMS) / 1000
	switch {
	case e.Event == "ready":
		p.ready = true
		p.log.hold()
	case p.ready:
	case e.Event == "server-progress":
		fmt.Fprintf(p.log, "refbridge: server %s is starting, %.0f s\n", e.Server, seconds)
	case e.Event == "server-started":
		fmt.Fprintf(p.log, "refbridge: server %s is ready, %.1f s\n", e.Server, seconds)
	}
	return len(line), nil
}

// personLog is where a person reads what the bridge has to say.
type personLog struct {
	out io.Writer
	// shared: the agent draws on the same screen. What there is to say while it
	// runs waits until it has ended.
	shared bool

	mu   sync.Mutex
	held *bytes.Buffer
}

// maxHeld bounds what waits; the first lines tell the most.
const maxHeld = 64 << 10

func (l *personLog) Write(text []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.held == nil {
		return l.out.Write(text)
	}
	if l.held.Len()+len(text) <= maxHeld {
		l.held.Write(text)
	}
	return len(text), nil
}

func (l *personLog) hold() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.shared {
		l.held = &bytes.Buffer{}
	}
}

func (l *personLog) release() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.held != nil {
		_, _ = l.held.WriteTo(l.out) // there is nobody else to tell
		l.held = nil
	}
}
