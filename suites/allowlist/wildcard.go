package allowlist

import (
	"context"
	"fmt"
	"strings"

	"bridgecheck/fakes/dns"
	"bridgecheck/suites/catalog"
	"bridgecheck/suites/kit"
	"bridgecheck/suites/subject"
)

// below is a name made of the rest of a wildcard rule, and whether the rule is
// for it.
type below struct {
	pattern string // with the rule's rest for %s
	matches bool
}

var _ = kit.Table(catalog.Case{
	ID:     "ALW-007",
	Title:  "matches a wildcard at whole labels",
	Must:   "A wildcard rule *.example.test MUST match any depth below, and MUST NOT match evilexample.test or example.test.evil.test.",
	Level:  catalog.Security,
	Clause: "5.7",
	Needs:  []subject.Capability{subject.Connect},
	Faults: []string{"suffix-without-dot", "one-label-only"},
	Why:    "A suffix that is compared without its dot is a name that anybody can register.",
}, []kit.Row[below]{
	{Name: "one-below", Value: below{"a.%s", true}},
	{Name: "deep-below", Value: below{"c.b.a.%s", true}},
	{Name: "glued", Value: below{"evil%s", false}},
	{Name: "glued-below", Value: below{"a.evil%s", false}},
	{Name: "suffixed", Value: below{"a.%s.evil.test", false}},
}, func(ctx context.Context, t *kit.T, b below) {
	u := t.HTTP()
	rest := t.Unique() + ".test"
	agent := t.Start(ctx, subject.Spec{Allow: []subject.Rule{{Host: "*." + rest, Port: u.Port()}}}).Agent
	known, name := "known."+rest, fmt.Sprintf(b.pattern, rest)
	for _, n := range []string{known, name} {
		t.Name(n, dns.Addresses(u.Addr().Addr().String()))
	}
	for _, f := range forms(t) {
		authority := func(name string) string { return strings.Replace(u.Authority(), u.Name, name, 1) }
		t.Control(f.name+" to a name below", f.ask(ctx, agent, authority(known)), kit.BeStatus(200))
		heard := u.Heard()
		if b.matches {
			t.Attempt(f.name+" to "+name, f.ask(ctx, agent, authority(name)), kit.BeStatus(200))
			continue
		}
		t.Attempt(f.name+" to "+name, f.ask(ctx, agent, authority(name)), f.refused)
		t.FarSide("connections for the attempt", u.Heard()-heard, kit.BeNone())
		t.FarSide("DNS queries for the name", t.Queries(name), kit.BeNone())
	}
})
