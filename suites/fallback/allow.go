package fallback

import (
	"context"
	"slices"
	"strings"

	"bridgecheck/suites/catalog"
	"bridgecheck/suites/kit"
	"bridgecheck/suites/subject"
)

var _ = kit.Check(catalog.Case{
	ID:     "FBK-004",
	Title:  "joins the allowed hosts of all servers into one canonical list",
	Must:   "Allowed hosts of all servers MUST be joined, canonicalised, deduplicated and ordered the same every time.",
	Level:  catalog.Interoperability,
	Clause: "7.4",
	Needs:  []subject.Capability{subject.SandboxServers, subject.Events},
	Faults: []string{"allow-list-repeats"},
	Why:    "A list whose order changes cannot be compared, and is not reviewed.",
}, func(ctx context.Context, t *kit.T) {
	one := t.Start(ctx, subject.Spec{Servers: []subject.Server{inSandbox("a", rule("b.example.test"))}}, kit.WithArgs("--dry-run"))
	t.Control("the list of one rule", one.Mode(ctx).Allow, kit.Be([]string{"b.example.test:443"}))

	servers := []subject.Server{
		inSandbox("a", rule("B.Example.Test"), rule("a.example.test")),
		inSandbox("b", rule("b.example.test."), subject.Rule{Host: "a.example.test", Port: 8443}),
		inSandbox("c", rule("a.example.test")),
	}
	want := []string{"a.example.test:443", "a.example.test:8443", "b.example.test:443", "c.example.test:443"}
	for range servers {
		servers = append(servers[1:], servers[0])
		phase := t.Start(ctx, subject.Spec{Servers: servers, Allow: []subject.Rule{rule("c.example.test"), rule("b.example.test")}}, kit.WithArgs("--dry-run"))
		allow := phase.Mode(ctx).Allow
		t.Attempt("the list, servers in the order "+names(servers), allow, kit.Be(want))
		t.Attempt("it is sorted", slices.IsSorted(allow), kit.Be(true))
	}
})

func names(servers []subject.Server) string {
	var all []string
	for _, s := range servers {
		all = append(all, s.Name)
	}
	return strings.Join(all, ", ")
}
