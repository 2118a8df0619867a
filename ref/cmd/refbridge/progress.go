package main

import (
	"encoding/json"
	"fmt"
	"io"
)

// progress is a sink of events that tells a person what a start waits for. It
// is silent once the agent runs: the terminal is the agent's then.
type progress struct {
	out   io.Writer
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
	case p.ready:
	case e.Event == "server-progress":
		fmt.Fprintf(p.out, "refbridge: server %s is starting, %.0f s\n", e.Server, seconds)
	case e.Event == "server-started":
		fmt.Fprintf(p.out, "refbridge: server %s is ready, %.1f s\n", e.Server, seconds)
	}
	return len(line), nil
}
