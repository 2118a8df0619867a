package allowlist

import (
	"context"
	"maps"

	"bridgecheck/fakes/attempt"
	"bridgecheck/suites/catalog"
	"bridgecheck/suites/kit"
	"bridgecheck/suites/subject"
)

// hop is what a client says to the proxy alone (RFC 9110 7.6.1): the fields that
// Connection names, and those that are hop-by-hop by themselves.
var hop = map[string]string{
	"Connection": "close, X-Hop", "X-Hop": "1", "Keep-Alive": "timeout=5", "TE": "trailers", "Proxy-Connection": "keep-alive",
}

var _ = kit.Table(catalog.Case{
	ID:     "ALW-004",
	Title:  "judges plain HTTP in absolute form by the same rules",
	Must:   "A request in absolute form MUST be judged by the rules of CONNECT; allowed, it MUST be forwarded without hop-by-hop fields, and refused, answered by the proxy with a final 4xx or 5xx without a dial.",
	Level:  catalog.Security,
	Clause: "5.4",
	Needs:  []subject.Capability{subject.AbsoluteForm},
	Faults: []string{"absolute-unjudged", "hop-by-hop-kept"},
	Why:    "Proxies have enforced their list for CONNECT and passed every plain GET.",
}, []kit.Row[func(context.Context, *kit.T)]{
	{Name: "allowed", Value: forwards},
	{Name: "undeclared", Value: refusesPlain},
}, func(ctx context.Context, t *kit.T, run func(context.Context, *kit.T)) { run(ctx, t) })

func forwards(ctx context.Context, t *kit.T) {
	u := t.HTTP()
	request := attempt.Attempt{Op: attempt.OpHTTP, URL: u.URL() + "a%2Fb?q=%20", Via: "proxy", Headers: map[string]string{"X-End": "2"}}
	maps.Copy(request.Headers, hop)
	agent := t.Start(ctx, subject.Spec{Allow: []subject.Rule{u.Rule()}}).Agent
	t.Attempt("GET in absolute form", agent.Do(ctx, request), kit.BeStatus(200))

	got := u.Requests()
	if len(got) != 1 {
		t.FarSide("requests at the host", len(got), kit.Be(1))
		return
	}
	t.Control("an end-to-end field at the host", got[0].Header.Get("X-End"), kit.Be("2"))
	t.FarSide("request target at the host", got[0].Target, kit.Be("/a%2Fb?q=%20"))
	for _, name := range []string{"X-Hop", "Keep-Alive", "Te", "Proxy-Connection"} {
		t.FarSide("field "+name+" at the host", got[0].Header.Get(name), kit.BeNone())
	}
}

func refusesPlain(ctx context.Context, t *kit.T) {
	allowed, blocked := t.HTTP(), t.HTTP()
	agent := t.Start(ctx, subject.Spec{Allow: []subject.Rule{allowed.Rule()}}).Agent
	t.Control("GET from the declared host", agent.Get(ctx, allowed.URL(), "proxy"), kit.BeStatus(200))

	t.Attempt("GET from the other", agent.Get(ctx, blocked.URL(), "proxy"), kit.BeRefusal())
	t.FarSide("connections at the other", blocked.Heard(), kit.BeNone())
	t.FarSide("DNS queries for the other", t.Queries(blocked.Name), kit.BeNone())
}
