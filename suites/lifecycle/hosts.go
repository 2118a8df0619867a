package lifecycle

import (
	"context"

	"bridgecheck/suites/catalog"
	"bridgecheck/suites/kit"
	"bridgecheck/suites/subject"
)

var _ = kit.Table(catalog.Case{
	ID:     "LIF-018",
	Title:  "allows a phase its own hosts and not those of another",
	Must:   "Allowed hosts MUST be those of the phase: phase B is refused phase A's hosts.",
	Level:  catalog.Security,
	Clause: "6.18",
	Needs:  []subject.Capability{subject.Connect},
	Faults: []string{"list-accumulates"},
	Why:    "A list that is added to from phase to phase is in the end a list of everything.",
}, []kit.Row[bool]{
	{Name: "one-after-the-other", Value: true},
	{Name: "at-the-same-time", Value: false},
}, func(ctx context.Context, t *kit.T, inTurn bool) {
	a, b := t.Echo(), t.Echo()
	first := t.Start(ctx, subject.Spec{Allow: []subject.Rule{a.Rule()}})
	t.Control("phase A reaches its host", first.Agent.Connect(ctx, a.Authority()), kit.BeStatus(200))
	if inTurn {
		t.Control("phase A ends", first.Finish(ctx).Code, kit.Be(0))
	}
	heard, queries := a.Heard(), t.Queries(a.Name)

	second := t.Start(ctx, subject.Spec{Allow: []subject.Rule{b.Rule()}})
	t.Control("phase B reaches its host", second.Agent.Connect(ctx, b.Authority()), kit.BeStatus(200))
	t.Attempt("phase B asks for the host of A", second.Agent.Connect(ctx, a.Authority()), kit.BeStatus(403))
	t.FarSide("connections at the host of A by phase B", a.Heard()-heard, kit.BeNone())
	t.FarSide("DNS queries for the host of A by phase B", t.Queries(a.Name)-queries, kit.BeNone())
	if !inTurn {
		t.Attempt("phase A asks for the host of B", first.Agent.Connect(ctx, b.Authority()), kit.BeStatus(403))
	}
})
