package ref_test

import (
	"bytes"
	"context"
	"fmt"
	"syscall"
	"testing"

	"bridgecheck/ref"
	"bridgecheck/ref/config"
	"bridgecheck/ref/event"
)

// canceller cancels a phase while it tells its n-th event, counted from 1.
type canceller struct {
	*journal
	n      int
	told   int
	cancel func()
}

func (c *canceller) Write(line []byte) (int, error) {
	if c.told += bytes.Count(line, []byte("\n")); c.told == c.n {
		c.cancel()
	}
	return c.journal.Write(line)
}

// LIF-007: whatever a phase is doing when it is told to end, it ends, once and
// with all that it has started.
func TestCancelAtEveryPoint(t *testing.T) {
	needNamespaces(t)
	_, before := held(t)
	for n := 0; ; n++ {
		ctx, cancel := context.WithCancelCause(context.Background())
		c := &canceller{journal: newJournal(), n: n, cancel: func() { cancel(&ref.SignalError{Signal: syscall.SIGTERM}) }}
		if n == 0 {
			c.cancel()
		}
		r := phase(ctx, t, config.Spec{
			Agent: agent(t, "exit", "0"), Servers: []config.Server{server(t, "a", "x"), server(t, "b", "x")},
		}, func(o *ref.Options) { o.Events = event.NewRecorder(c) })
		r.journal = c.journal
		wantOneEnd(t, fmt.Sprintf("cancelled at event %d", n), r)
		if _, children := held(t); children > before {
			t.Errorf("cancelled at event %d: %d processes are left", n, children-before)
		}
		if c.told < n {
			if r.exit != (ref.Exit{Reason: ref.ReasonAgent}) || n < 7 {
				t.Errorf("of a phase that nobody cancels, %d events are told, and it ends with %+v, %v", c.told, r.exit, r.err)
			}
			return
		}
	}
}

// wantOneEnd demands one exit event, the last, of a phase that was told to end
// or had ended, and an end of each server that has started.
func wantOneEnd(t *testing.T, when string, r run) {
	t.Helper()
	lines := r.lines()
	if len(r.of("exit")) != 1 || lines[len(lines)-1].Event != "exit" {
		t.Errorf("%s: events\n%s", when, r.text.String())
	}
	if r.exit.Reason != ref.ReasonSignal && r.exit.Reason != ref.ReasonAgent {
		t.Errorf("%s: exit %+v, %v", when, r.exit, r.err)
	}
	for _, started := range r.of("server-started") {
		stops := 0
		for _, stopped := range r.of("server-stopped") {
			if stopped.Server == started.Server {
				stops++
			}
		}
		if stops != 1 {
			t.Errorf("%s: server %s was stopped %d times:\n%s", when, started.Server, stops, r.text.String())
		}
	}
}
