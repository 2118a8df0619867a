package allowlist

import (
	"context"
	"strings"

	"bridgecheck/suites/catalog"
	"bridgecheck/suites/kit"
	"bridgecheck/suites/subject"
)

var _ = kit.Table(catalog.Case{
	ID:     "ALW-008",
	Title:  "rejects a rule that could never match",
	Must:   "Rules and requests MUST go through one canonical form; a rule that could never match MUST be rejected when the configuration is loaded, with the fix in the message.",
	Level:  catalog.Security,
	Clause: "5.8",
	Needs:  []subject.Capability{subject.Connect},
	Faults: []string{"bad-rules-dropped", "rule-kept-as-written"},
	Why:    "A rule that silently matches nothing is an outage; one that is read in another way than it was meant is a hole.",
}, []kit.Row[func(context.Context, *kit.T)]{
	{Name: "scheme", Value: rejects(`"https://a.test"`, `443`)},
	{Name: "path", Value: rejects(`"a.test/v1"`, `443`)},
	{Name: "port-in-host", Value: rejects(`"a.test:443"`, `443`)},
	{Name: "star", Value: rejects(`"*"`, `443`)},
	{Name: "inner-star", Value: rejects(`"a.*.test"`, `443`)},
	{Name: "star-without-dot", Value: rejects(`"*a.test"`, `443`)},
	{Name: "underscore", Value: rejects(`"a_b.test"`, `443`)},
	{Name: "space", Value: rejects(`" a.test"`, `443`)},
	{Name: "empty-label", Value: rejects(`"a..test"`, `443`)},
	{Name: "long-label", Value: rejects(`"`+strings.Repeat("a", 64)+`.test"`, `443`)},
	{Name: "long-name", Value: rejects(`"`+strings.Repeat("abcdefg.", 32)+`test"`, `443`)},
	{Name: "empty", Value: rejects(`""`, `443`)},
	{Name: "port-zero", Value: rejects(`"a.test"`, `0`)},
	{Name: "port-65536", Value: rejects(`"a.test"`, `65536`)},
	{Name: "port-plus", Value: rejects(`"a.test"`, `+443`)},
	{Name: "port-leading-zero", Value: rejects(`"a.test"`, `0443`)},
	{Name: "upper", Value: spelled(strings.ToUpper)},
	{Name: "one-dot", Value: spelled(func(name string) string { return name + "." })},
}, func(ctx context.Context, t *kit.T, run func(context.Context, *kit.T)) { run(ctx, t) })

func rejects(host, port string) func(context.Context, *kit.T) {
	return stops(`[{"host": ` + host + `, "port": ` + port + `}]`)
}

// spelled declares a name in another spelling and asks for it as it is.
func spelled(of func(string) string) func(context.Context, *kit.T) {
	return func(ctx context.Context, t *kit.T) {
		u := t.HTTP()
		plain := t.Start(ctx, subject.Spec{Allow: []subject.Rule{u.Rule()}}).Agent
		agent := t.Start(ctx, subject.Spec{Allow: []subject.Rule{{Host: of(u.Name), Port: u.Port()}}}).Agent
		for _, f := range forms(t) {
			t.Control(f.name+" with the rule in lower case", f.ask(ctx, plain, u.Authority()), kit.BeStatus(200))
			t.Attempt(f.name+" with the rule as "+of(u.Name), f.ask(ctx, agent, u.Authority()), kit.BeStatus(200))
		}
	}
}
