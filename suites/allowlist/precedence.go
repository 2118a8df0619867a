package allowlist

import (
	"context"
	"encoding/json"
	"strings"

	"bridgecheck/suites/catalog"
	"bridgecheck/suites/kit"
	"bridgecheck/suites/subject"
)

// conflict is an allow and a deny list that both name the same host.
type conflict struct {
	allow, deny func(exact subject.Rule) subject.Rule
}

func itself(r subject.Rule) subject.Rule { return r }

// above is the wildcard rule that the name falls under.
func above(r subject.Rule) subject.Rule {
	_, parent, _ := strings.Cut(r.Host, ".")
	return subject.Rule{Host: "*." + parent, Port: r.Port}
}

var _ = kit.Table(catalog.Case{
	ID:     "ALW-023",
	Title:  "lets deny beat allow and an empty list deny everything",
	Must:   "Deny MUST beat allow, an empty list MUST deny everything, and a list that cannot be parsed MUST stop the start.",
	Level:  catalog.Security,
	Clause: "5.23",
	Needs:  []subject.Capability{subject.Connect},
	Faults: []string{"allow-beats-deny", "deny-rules-dropped", "denied-address-dialled", "empty-allows-all", "bad-rules-dropped"},
	Why:    "Configurations that were not read, or read as empty, have opened everything.",
}, []kit.Row[func(context.Context, *kit.T)]{
	{Name: "deny-exact", Value: conflict{itself, itself}.check},
	{Name: "deny-below-wildcard", Value: conflict{above, itself}.check},
	{Name: "deny-wildcard", Value: conflict{itself, above}.check},
	{Name: "deny-address", Value: deniedByAddress},
	{Name: "deny-star", Value: deniedByStar},
	{Name: "empty", Value: deniesAll},
	{Name: "unparsable-type", Value: stops(`"*"`)},
	{Name: "unparsable-rule", Value: stops(`[{"host": "a.test", "port": 443}, {"host": "b.test:443"}]`)},
	{Name: "unparsable-key", Value: stops(`[{"host": "a.test", "port": 443, "ports": [80]}]`)},
}, func(ctx context.Context, t *kit.T, run func(context.Context, *kit.T)) { run(ctx, t) })

func (c conflict) check(ctx context.Context, t *kit.T) {
	u := t.HTTP()
	rule := u.Rule()
	other := subject.Rule{Host: "unrelated.test", Port: u.Port()}
	allowed := denying(ctx, t, c.allow(rule), other)
	denied := t.Start(ctx, subject.Spec{Allow: []subject.Rule{c.allow(rule)}, Deny: []subject.Rule{c.deny(rule)}}).Agent
	for _, f := range forms(t) {
		t.Control(f.name+" with another host denied", f.ask(ctx, allowed, u.Authority()), kit.BeStatus(200))
		heard, queries := u.Heard(), t.Queries(u.Name)
		t.Attempt(f.name+" with this host denied", f.ask(ctx, denied, u.Authority()), f.refused)
		t.FarSide("connections for the attempt", u.Heard()-heard, kit.BeNone())
		t.FarSide("DNS queries for the attempt", t.Queries(u.Name)-queries, kit.BeNone())
	}
}

// denying starts an agent with a deny rule that is about something else.
func denying(ctx context.Context, t *kit.T, allow, deny subject.Rule) *kit.Agent {
	phase := t.Start(ctx, subject.Spec{Allow: []subject.Rule{allow}, Deny: []subject.Rule{deny}})
	phase.Honoured(ctx, "deny")
	return phase.Agent
}

// deniedByAddress denies what an allowed name resolves to.
func deniedByAddress(ctx context.Context, t *kit.T) {
	u := t.HTTP()
	there := subject.Rule{Host: publicAddress, Port: u.Port()}
	elsewhere := subject.Rule{Host: dead, Port: u.Port()}
	allowed := denying(ctx, t, u.Rule(), elsewhere)
	denied := t.Start(ctx, subject.Spec{Allow: []subject.Rule{u.Rule()}, Deny: []subject.Rule{there}}).Agent
	for _, f := range forms(t) {
		t.Control(f.name+" with another address denied", f.ask(ctx, allowed, u.Authority()), kit.BeStatus(200))
		heard := u.Heard()
		t.Attempt(f.name+" with the name's address denied", f.ask(ctx, denied, u.Authority()), kit.BeStatus(403, 502))
		t.FarSide("connections for the attempt", u.Heard()-heard, kit.BeNone())
	}
}

// deniedByStar denies every host: that is refused when it is loaded, or meant.
func deniedByStar(ctx context.Context, t *kit.T) {
	u := t.HTTP()
	listed := t.Start(ctx, subject.Spec{Allow: []subject.Rule{u.Rule()}}).Agent
	t.Control("CONNECT without the deny rule", listed.Connect(ctx, u.Authority()), kit.BeStatus(200))
	heard := u.Heard()
	phase := t.Start(ctx, subject.Spec{Allow: []subject.Rule{u.Rule()}, Deny: []subject.Rule{{Host: "*", Port: u.Port()}}})
	fate := phase.Fate(ctx)
	t.Attempt("the start", fate, kit.BeOneOf("exit code 125", "the agent runs"))
	if fate == "the agent runs" {
		t.Attempt("CONNECT with every host denied", phase.Agent.Connect(ctx, u.Authority()), kit.BeStatus(403))
	}
	t.FarSide("connections for the attempt", u.Heard()-heard, kit.BeNone())
}

func deniesAll(ctx context.Context, t *kit.T) {
	u := t.HTTP()
	listed := t.Start(ctx, subject.Spec{Allow: []subject.Rule{u.Rule()}}).Agent
	empty := t.Start(ctx, subject.Spec{Allow: []subject.Rule{}}).Agent
	for _, f := range forms(t) {
		t.Control(f.name+" when listed", f.ask(ctx, listed, u.Authority()), kit.BeStatus(200))
		heard := u.Heard()
		t.Attempt(f.name+" with an empty list", f.ask(ctx, empty, u.Authority()), f.refused)
		t.FarSide("connections for the attempt", u.Heard()-heard, kit.BeNone())
	}
}

// stops starts the subject with a list that it cannot read.
func stops(list string) func(context.Context, *kit.T) {
	return func(ctx context.Context, t *kit.T) {
		t.Control("a list that can be read", withList(ctx, t, `[{"host": "a.test", "port": 443}]`).Fate(ctx), kit.Be("the agent runs"))

		phase := withList(ctx, t, list)
		t.Attempt("the start with "+list, phase.Fate(ctx), kit.Be("exit code 125"))
		t.FarSide("ready events", len(phase.Events(subject.EventReady)), kit.BeNone())
		if t.Subject().Claims(subject.Events) {
			t.Attempt("what the error event says", told(phase), kit.Contain("allow"))
		}
	}
}

// withList starts the subject with an allow list that is written by hand.
func withList(ctx context.Context, t *kit.T, list string) *kit.Phase {
	agent, err := json.Marshal(t.Probe())
	if err != nil {
		t.Fatal("encode: %v", err)
	}
	return t.Start(ctx, subject.Spec{}, kit.WithRawSpec([]byte(`{"allow": `+list+`, "agent": {"path": `+string(agent)+`}}`)))
}

// told is what the error events say, reason and causes.
func told(phase *kit.Phase) string {
	var all []string
	for _, e := range phase.Events(subject.EventError) {
		all = append(append(all, e.Reason), e.Causes...)
	}
	return strings.Join(all, "\n")
}
