package kit

import (
	"context"
	"slices"
	"strings"

	"github.com/onsi/ginkgo/v2"

	"bridgecheck/suites/subject"
)

// Honoured ends the row as not applicable when the subject honestly refuses one
// of these fields of the spec, as CONTRACT.md 1.5 says: it is for fields that no
// capability stands for. What is given up in silence is left to the check. The
// agent must be the probe.
func (p *Phase) Honoured(ctx context.Context, fields ...string) {
	ginkgo.GinkgoHelper()
	if p.Fate(ctx) != "exit code 125" {
		return
	}
	if e, refused := unsupported(p.Events(""), fields); refused {
		p.t.NotApplicable("the subject does not support %s", strings.TrimSpace(e.Field+" "+e.Reason))
	}
}

// unsupported finds the refusal of one of the fields, or of a part of it; an agent
// that was about to start has been refused nothing.
func unsupported(events []subject.Event, fields []string) (subject.Event, bool) {
	if slices.ContainsFunc(events, func(e subject.Event) bool { return e.Kind == subject.EventReady }) {
		return subject.Event{}, false
	}
	for _, e := range events {
		for _, f := range fields {
			rest, of := strings.CutPrefix(e.Field, f)
			if e.Kind == subject.EventUnsupported && of && (rest == "" || rest[0] == '.' || rest[0] == '[') {
				return e, true
			}
		}
	}
	return subject.Event{}, false
}
