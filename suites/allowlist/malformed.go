package allowlist

import (
	"context"
	"fmt"

	"bridgecheck/suites/catalog"
	"bridgecheck/suites/kit"
	"bridgecheck/suites/subject"
)

var _ = kit.Table(catalog.Case{
	ID:     "ALW-016",
	Title:  "answers 400 to a CONNECT target that is not host and port",
	Must:   "Userinfo, path, query or fragment in a CONNECT target, a missing port, port 0 and 65536, a port that is no number, signs and spaces MUST be answered 400.",
	Level:  catalog.Security,
	Clause: "5.16",
	Needs:  []subject.Capability{subject.Connect},
	Faults: []string{"default-port", "userinfo-removed", "arapuca-silent-close"},
	Why:    "A target that is repaired is judged as one thing and dialled as another.",
}, []kit.Row[string]{ // the target, as [fill] reads it
	{Name: "userinfo", Value: "user@NAME:PORT"},
	{Name: "userinfo-password", Value: "u:p@NAME:PORT"},
	{Name: "host-before-at", Value: "NAME:PORT@NAME:PORT"},
	{Name: "path", Value: "NAME:PORT/"},
	{Name: "query", Value: "NAME:PORT?a"},
	{Name: "fragment", Value: "NAME:PORT#a"},
	{Name: "scheme", Value: "http://NAME:PORT"},
	{Name: "no-port", Value: "NAME"},
	{Name: "empty-port", Value: "NAME:"},
	{Name: "port-zero", Value: "NAME:0"},
	{Name: "port-65536", Value: "NAME:65536"},
	{Name: "port-wrapped", Value: "NAME:WRAPPED"}, // the declared one in 16 bits
	{Name: "port-word", Value: "NAME:https"},
	{Name: "port-plus", Value: "NAME:+PORT"},
	{Name: "port-minus", Value: "NAME:-1"},
	{Name: "port-twice", Value: "NAME:PORT:PORT"},
	{Name: "space-before-port", Value: "NAME: PORT"},
	{Name: "space-after-port", Value: "NAME:PORT "},
	{Name: "percent", Value: "%75NAME:PORT"},
	{Name: "backslash", Value: "NAME:PORT\\"},
}, func(ctx context.Context, t *kit.T, pattern string) {
	u := t.Echo()
	agent := t.Start(ctx, subject.Spec{Allow: []subject.Rule{u.Rule(), {Host: u.Name, Port: 443}}}).Agent
	t.Control("CONNECT to host and port", agent.Connect(ctx, u.Authority()), kit.BeStatus(200))
	heard, queries := u.Heard(), t.Queries(u.Name)

	target := fill(pattern, u)
	for _, host := range []string{u.Authority(), u.Name} { // one that is right must not be refused for Host
		request := fmt.Sprintf("CONNECT %s HTTP/1.1\r\nHost: %s\r\n\r\n", target, host)
		t.Attempt("CONNECT "+target+" with Host "+host, agent.Raw(ctx, "bad", []byte(request)), kit.BeStatus(400))
	}
	t.FarSide("connections for the attempt", u.Heard()-heard, kit.BeNone())
	t.FarSide("DNS queries for the attempt", t.Queries(u.Name)-queries, kit.BeNone())
})
