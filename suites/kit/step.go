package kit

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/onsi/ginkgo/v2"
	"github.com/onsi/gomega/types"

	"bridgecheck/fakes/attempt"
	"bridgecheck/suites/report"
)

// Control asserts that the instrument works: the thing is possible when it is
// allowed, or the door exists outside the sandbox. Every check has at least one.
func (t *T) Control(what string, got any, want types.GomegaMatcher) {
	ginkgo.GinkgoHelper()
	t.step("control", what, got, want)
}

// Attempt asserts what the check claims.
func (t *T) Attempt(what string, got any, want types.GomegaMatcher) {
	ginkgo.GinkgoHelper()
	t.step("attempt", what, got, want)
}

// FarSide asserts what a witness beyond the subject's reach has seen.
func (t *T) FarSide(what string, got any, want types.GomegaMatcher) {
	ginkgo.GinkgoHelper()
	t.step("far side", what, got, want)
}

func (t *T) step(kind, what string, got any, want types.GomegaMatcher) {
	ginkgo.GinkgoHelper()
	ok, err := want.Match(got)
	s := report.Step{Kind: kind, What: what, Want: describeWant(got, want), Got: describe(got), OK: ok && err == nil}
	if err != nil {
		s.Got = fmt.Sprintf("%s (%v)", s.Got, err)
	}
	t.mu.Lock()
	t.result.Steps = append(t.result.Steps, s)
	t.mu.Unlock()
	if !s.OK {
		if kind != "control" {
			t.witness()
		}
		ginkgo.Fail(fmt.Sprintf("%s: %s\nwanted %s\ngot    %s", kind, what, s.Want, s.Got))
	}
}

// Fatal ends the check as an error of the harness: a fixture is missing or
// broken, and nothing can be said about the subject.
func (t *T) Fatal(format string, args ...any) {
	ginkgo.GinkgoHelper()
	t.stop(report.Errored, fmt.Sprintf(format, args...))
}

// Moot ends the check because the door does not exist on this host at all: the
// control failed outside the sandbox too.
func (t *T) Moot(format string, args ...any) {
	ginkgo.GinkgoHelper()
	t.stop(report.Moot, fmt.Sprintf(format, args...))
}

// stop is the only place that skips.
func (t *T) stop(state report.State, reason string) {
	ginkgo.GinkgoHelper()
	t.mu.Lock()
	t.stopped, t.result.Reason = state, reason
	t.mu.Unlock()
	if state == report.Errored {
		ginkgo.Fail("harness: " + reason)
	}
	ginkgo.Skip(string(state) + ": " + reason)
}

// describeWant says in words what a matcher wants: its own String, or the part
// of its message that follows the value.
func describeWant(got any, want types.GomegaMatcher) string {
	if s, ok := want.(fmt.Stringer); ok {
		return s.String()
	}
	message := want.FailureMessage(got)
	if i := strings.Index(message, "\nto "); i >= 0 {
		message = message[i+1:]
	}
	return strings.Join(strings.Fields(message), " ")
}

// describe prints a value in one line, short enough to read.
func describe(got any) string {
	if s, ok := got.(fmt.Stringer); ok {
		return s.String()
	}
	if s, ok := got.(string); ok {
		return clip(fmt.Sprintf("%q", s))
	}
	if obs, ok := got.(attempt.Observation); ok {
		return clip(describeObservation(obs))
	}
	raw, err := json.Marshal(got)
	if err != nil {
		return clip(fmt.Sprintf("%v", got))
	}
	return clip(string(raw))
}

func clip(s string) string {
	const most = 2000
	if len(s) > most {
		return s[:most] + "…"
	}
	return s
}

// describeObservation leaves out what is empty and prints bytes as text.
func describeObservation(o attempt.Observation) string {
	var parts []string
	add := func(format string, args ...any) { parts = append(parts, fmt.Sprintf(format, args...)) }
	switch {
	case o.Errno != "":
		add("%s (%s)", o.Errno, o.Error)
	case o.Status == 0:
		add("success")
	}
	if o.Status != 0 {
		add("status %d %s", o.Status, o.Phrase)
	}
	if len(o.Data) > 0 && o.Status == 0 {
		add("data %q", o.Data)
	}
	for name, value := range map[string]string{"text": o.Text, "body": o.Body} {
		if value != "" {
			add("%s %q", name, value)
		}
	}
	if o.Bytes != 0 {
		add("%d bytes", o.Bytes)
	}
	if len(o.Names) > 0 {
		add("names %v", o.Names)
	}
	if o.Value != 0 {
		add("value %d", o.Value)
	}
	if len(o.Errnos) > 0 {
		add("outcomes %v", o.Errnos)
	}
	return strings.Join(parts, ", ")
}
