package allowlist

import (
	"context"
	"fmt"

	"bridgecheck/suites/catalog"
	"bridgecheck/suites/kit"
	"bridgecheck/suites/subject"
)

var _ = kit.Check(catalog.Case{
	ID:     "ALW-003",
	Title:  "refuses another port of a declared host",
	Must:   "A declared host on an undeclared port MUST be refused.",
	Level:  catalog.Security,
	Clause: "5.3",
	Needs:  []subject.Capability{subject.Connect},
	Faults: []string{"port-ignored"},
	Why:    "A host that serves a web site may serve a database too; a rule means one port.",
}, func(ctx context.Context, t *kit.T) {
	declared, other := t.HTTP(), t.HTTP() // one address, two ports
	t.Control("the other port answers outside", t.Outside(ctx).Get(ctx, "http://"+other.Addr().String()+"/", "direct"), kit.BeStatus(200))
	heard := other.Heard()

	agent := t.Start(ctx, subject.Spec{Allow: []subject.Rule{declared.Rule()}}).Agent
	for _, f := range forms(t) {
		t.Control(f.name+" to the declared port", f.ask(ctx, agent, declared.Authority()), kit.BeStatus(200))
		queries := t.Queries(declared.Name)

		undeclared := fmt.Sprintf("%s:%d", declared.Name, other.Port())
		t.Attempt(f.name+" to the other port", f.ask(ctx, agent, undeclared), f.refused)
		t.FarSide("DNS queries for the attempt", t.Queries(declared.Name)-queries, kit.BeNone())
	}
	t.FarSide("connections at the other port by the subject", other.Heard()-heard, kit.BeNone())
})
