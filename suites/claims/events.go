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
	Must:   "Every event MUST be one whole JSON line with the keys of its kind; the first is mode, or what stopped the start, by its place in the spec, and the last is exit. A dry run MUST tell its mode and start nothing.",
	Level:  catalog.Interoperability,
	Clause: "12.5",
	Needs:  []subject.Capability{subject.Events, subject.Connect, subject.HostServers},
	Faults: []string{"event-unknown-key", "spec-key-passed-over", "dry-run-starts"},
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

	for spec, place := range map[string]string{
		`{"allow": [{"host": "https://example.test", "port": 443}]}`: "allow",
		`{"alow": []}`: "alow",
	} {
		refused := t.Start(ctx, subject.Spec{}, kit.WithRawSpec([]byte(spec)))
		t.Attempt("the end of a phase with "+spec, refused.Wait(ctx), kit.Be(kit.Exit{Code: 125}))
		t.Attempt("problems in its events", problems(refused, subject.EventError), kit.BeNone())
		t.Attempt("its error event", refused.Events(subject.EventError)[0].Reason, kit.Contain(place))
	}

	begun := len(t.Announced("jira"))
	dry := t.Start(ctx, subject.Spec{Servers: []subject.Server{t.Server("jira")}}, kit.WithArgs("--dry-run"))
	t.Attempt("the end of a dry run", dry.Finish(ctx), kit.Be(kit.Exit{}))
	t.Attempt("events mode of it", len(dry.Events(subject.EventMode)), kit.Be(1))
	t.Attempt("events ready of it", dry.Events(subject.EventReady), kit.BeNone())
	t.FarSide("what the server in it has announced", len(t.Announced("jira"))-begun, kit.BeNone())
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
