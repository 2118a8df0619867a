package allowlist

import (
	"context"
	"strings"

	"bridgecheck/suites/catalog"
	"bridgecheck/suites/kit"
	"bridgecheck/suites/subject"
)

// spelling is another way to write a declared name.
type spelling struct {
	of func(name string) string
	// status is the right answer: 200 for the same name, 400 for none.
	status int
}

var _ = kit.Table(catalog.Case{
	ID:     "ALW-006",
	Title:  "compares names without regard to case and to one trailing dot",
	Must:   "Names MUST compare case-insensitively and after removing exactly one trailing dot; an empty label MUST be answered 400.",
	Level:  catalog.Security,
	Clause: "5.6",
	Needs:  []subject.Capability{subject.Connect},
	Faults: []string{"case-sensitive", "every-dot-removed"},
	Why:    "A normaliser that runs more than once removes a dot each time, and a deny list is passed by a spelling.",
}, []kit.Row[spelling]{
	{Name: "upper", Value: spelling{strings.ToUpper, 200}},
	{Name: "mixed", Value: spelling{func(n string) string { return strings.ToUpper(n[:1]) + n[1:] }, 200}},
	{Name: "one-dot", Value: spelling{func(n string) string { return n + "." }, 200}},
	{Name: "two-dots", Value: spelling{func(n string) string { return n + ".." }, 400}},
	{Name: "leading-dot", Value: spelling{func(n string) string { return "." + n }, 400}},
	{Name: "empty-label", Value: spelling{func(n string) string { return strings.Replace(n, ".", "..", 1) }, 400}},
	{Name: "empty", Value: spelling{func(string) string { return "" }, 400}},
}, func(ctx context.Context, t *kit.T, s spelling) {
	u := t.HTTP()
	agent := t.Start(ctx, subject.Spec{Allow: []subject.Rule{u.Rule()}}).Agent
	for _, f := range forms(t) {
		t.Control(f.name+" to the name as declared", f.ask(ctx, agent, u.Authority()), kit.BeStatus(200))
		heard, queries := u.Heard(), t.Queries(u.Name)

		authority := strings.Replace(u.Authority(), u.Name, s.of(u.Name), 1)
		t.Attempt(f.name+" to "+authority, f.ask(ctx, agent, authority), kit.BeStatus(s.status))
		if s.status == 400 {
			t.FarSide("connections for the attempt", u.Heard()-heard, kit.BeNone())
			t.FarSide("DNS queries for the attempt", t.Queries(u.Name)-queries, kit.BeNone())
		}
	}
})
