package claims

import (
	"context"
	"fmt"

	"bridgecheck/suites/catalog"
	"bridgecheck/suites/kit"
	"bridgecheck/suites/subject"
)

var _ = kit.Check(catalog.Case{
	ID:     "CAP-005",
	Title:  "writes its events as the contract says",
	Must:   "Every event MUST be one whole JSON line with the keys of its kind; the first is mode, or what stopped the start, and the last is exit.",
	Level:  catalog.Interoperability,
	Clause: "12.5",
	Needs:  []subject.Capability{subject.Events, subject.Connect, subject.HostServers},
	Faults: []string{"event-unknown-key"},
	Why:    "Whoever reads a bridge's log by machine must not have to guess.",
}, func(ctx context.Context, t *kit.T) {
	t.Control("an event with a key of another kind is rejected",
		subject.ValidateEvent([]byte(`{"time":"2026-01-01T00:00:00Z","event":"server-stopped","server":"a","how":"eof","verdict":"allow"}`)) != nil, kit.Be(true))

	allowed, blocked := t.Echo(), t.Echo()
	whole := t.Start(ctx, subject.Spec{Servers: []subject.Server{t.Server("jira")}, Allow: []subject.Rule{allowed.Rule()}})
	whole.Agent.Connect(ctx, allowed.Authority())
	whole.Agent.Connect(ctx, blocked.Authority())
	whole.Finish(ctx)
	t.Attempt("problems in the events of a whole phase", problems(whole, subject.EventMode), kit.BeNone())

	refused := t.Start(ctx, subject.Spec{}, kit.WithRawSpec([]byte(`{"allow": [{"host": "https://example.test", "port": 443}]}`)))
	refused.Wait(ctx)
	t.Attempt("problems in the events of a refused one", problems(refused, subject.EventError), kit.BeNone())
})

// problems lists what is wrong with the events of an ended phase.
func problems(p *kit.Phase, first string) []string {
	list := []string{}
	for i, line := range p.EventLines() {
		if err := subject.ValidateEvent(line); err != nil {
			list = append(list, fmt.Sprintf("line %d: %v", i+1, err))
		}
	}
	events := p.Events("")
	if len(events) == 0 {
		return append(list, "there is no event")
	}
	if kind := events[0].Kind; kind != first {
		list = append(list, "the first event is "+kind)
	}
	if kind := events[len(events)-1].Kind; kind != subject.EventExit {
		list = append(list, "the last event is "+kind)
	}
	return list
}
