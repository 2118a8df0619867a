package kit

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"slices"

	"bridgecheck/suites/subject"

	"github.com/onsi/ginkgo/v2"
)

// eventLog reads the file the subject writes its events to.
type eventLog struct{ path string }

// read returns the whole lines so far; a line that is no event is left out here
// and found by the checks of the contract.
func (l *eventLog) read() []subject.Event {
	var events []subject.Event
	for _, line := range l.lines() {
		var e subject.Event
		if json.Unmarshal(line, &e) == nil {
			events = append(events, e)
		}
	}
	return events
}

func (l *eventLog) lines() [][]byte {
	raw, err := os.ReadFile(l.path)
	if err != nil {
		return nil
	}
	lines := bytes.Split(raw, []byte("\n"))
	return lines[:len(lines)-1] // the last is empty or unfinished
}

// EventLines are the raw lines of the events file.
func (p *Phase) EventLines() [][]byte { return p.events.lines() }

// Events returns the events of a kind so far, all of them when kind is empty.
func (p *Phase) Events(kind string) []subject.Event {
	var of []subject.Event
	for _, e := range p.events.read() {
		if kind == "" || e.Kind == kind {
			of = append(of, e)
		}
	}
	return of
}

// levels are the levels of isolation that the phases of the check were told to
// have, each once.
func (t *T) levels() []string {
	var all []string
	for _, p := range t.phases {
		for _, e := range p.Events(subject.EventMode) {
			if e.Level != "" && !slices.Contains(all, e.Level) {
				all = append(all, e.Level)
			}
		}
	}
	return all
}

// AwaitEvent waits for an event of the kind for which match is true (any when
// match is nil).
func (p *Phase) AwaitEvent(ctx context.Context, kind string, match func(subject.Event) bool) subject.Event {
	ginkgo.GinkgoHelper()
	var found subject.Event
	p.t.Await(ctx, "an event "+kind, func() bool {
		gone := p.ended() // asked first: what it wrote before it ended counts
		for _, e := range p.Events(kind) {
			if match == nil || match(e) {
				found = e
				return true
			}
		}
		if gone {
			ginkgo.Fail("there is no event " + kind + "\n" + p.fate())
		}
		return false
	})
	return found
}

// Mode is the mode event, the first of every phase.
func (p *Phase) Mode(ctx context.Context) subject.Event {
	ginkgo.GinkgoHelper()
	return p.AwaitEvent(ctx, subject.EventMode, nil)
}

// Ready waits until the agent is about to start.
func (p *Phase) Ready(ctx context.Context) subject.Event {
	ginkgo.GinkgoHelper()
	return p.AwaitEvent(ctx, subject.EventReady, nil)
}

// Door is the URL of the door of a kind to a server, for streamable HTTP, as the
// ready event tells it.
func (p *Phase) Door(ctx context.Context, server, kind string) string {
	ginkgo.GinkgoHelper()
	for _, d := range p.Ready(ctx).Doors {
		if d.Server == server && d.Kind == kind && d.Transport == "http" {
			return d.URL
		}
	}
	ginkgo.Fail("the ready event names no door of kind " + kind + " to server " + server)
	return ""
}
