package allowlist

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"bridgecheck/fakes/attempt"
	"bridgecheck/fakes/dns"
	"bridgecheck/suites/catalog"
	"bridgecheck/suites/kit"
	"bridgecheck/suites/subject"
)

var _ = kit.Table(catalog.Case{
	ID:     "ALW-031",
	Title:  "says in each refusal why, and how to allow it",
	Must:   "The reference bridge MUST say why it refuses in the reason phrase, in Proxy-Status and in a JSON body with reason, host, port, rules and how to allow it; in absolute form with 502, or with 403 where that is configured; a head that is too large with 431, one that is too slow with 408; and a wildcard MUST NOT match its apex.",
	Level:  catalog.House,
	Clause: "5.31",
	Needs:  []subject.Capability{subject.Connect, subject.AbsoluteForm},
	Faults: []string{"reason-kept-back", "apex-matched"},
	Why:    "Clients show of a refused CONNECT the reason phrase and nothing else; agents take a 403 of absolute form for missing authorization.",
}, []kit.Row[func(context.Context, *kit.T)]{
	{Name: "connect", Value: explains(connect, 0, 403)},
	{Name: "absolute", Value: explains(absolute, 0, 502)},
	{Name: "absolute-403", Value: explains(absolute, 403, 403)},
	{Name: "head-size", Value: headSize},
	{Name: "head-time", Value: headTime},
	{Name: "apex", Value: apex},
}, func(ctx context.Context, t *kit.T, run func(context.Context, *kit.T)) { run(ctx, t) })

// refusal is the body of the reference bridge's own answers.
type refusal struct {
	Reason, Message, Host, Allow string
	Port                         int
	Rules                        []string
}

func explains(f form, configured, status int) func(context.Context, *kit.T) {
	return func(ctx context.Context, t *kit.T) {
		allowed, blocked := t.HTTP(), t.HTTP()
		agent := t.Start(ctx, subject.Spec{
			Allow: []subject.Rule{allowed.Rule()}, Proxy: &subject.Proxy{RefuseStatus: configured},
		}).Agent
		t.Control(f.name+" to the declared host", f.ask(ctx, agent, allowed.Authority()), kit.BeStatus(200))

		answer := f.ask(ctx, agent, blocked.Authority())
		t.Attempt(f.name+" to the other", answer, kit.BeStatus(status))
		t.Attempt("reason phrase", answer.Phrase, kit.Contain(blocked.Authority()))
		t.Attempt("error type", proxyError(answer), kit.Be("http_request_denied"))
		body := answer.Body
		if f.name == connect.name {
			body = string(agent.Do(ctx, attempt.Attempt{Op: attempt.OpReceive, Conn: "tunnel", Size: contentLength(answer), Until: "size"}).Data)
		}
		var r refusal
		t.Attempt("the body is JSON", json.Unmarshal([]byte(body), &r) == nil, kit.Be(true))
		t.Attempt("reason, host and port in it", fmt.Sprintf("%s %s:%d", r.Reason, r.Host, r.Port), kit.Be("refused "+blocked.Authority()))
		t.Attempt("rules in it", r.Rules, kit.Contain(allowed.Authority()))
		t.Attempt("how to allow it", r.Allow, kit.Contain(blocked.Name))
		t.FarSide("connections at the other", blocked.Heard(), kit.BeNone())
	}
}

func headSize(ctx context.Context, t *kit.T) {
	u := t.Echo()
	agent := limited(ctx, t, u)
	data := fill("CONNECT NAME:PORT HTTP/1.1\r\nHost: NAME:PORT\r\nX-A: ", u) + strings.Repeat("a", headBytes*4)
	t.Attempt("a head that is too large", agent.Raw(ctx, "large", []byte(data)), kit.BeStatus(431))
	data = "GET http://" + strings.Repeat("a", headBytes*4)
	t.Attempt("a request line that is too long", agent.Raw(ctx, "long", []byte(data)), kit.BeStatus(414))
}

func headTime(ctx context.Context, t *kit.T) {
	u := t.Echo()
	agent := limited(ctx, t, u)
	t.Attempt("a head that does not come to its end", agent.Raw(ctx, "slow", []byte(fill("CONNECT NAME:PORT HTTP/1.1\r\n", u))), kit.BeStatus(408))
}

func apex(ctx context.Context, t *kit.T) {
	u, name := t.HTTP(), t.Unique()+".test"
	for _, n := range []string{name, "a." + name} {
		t.Name(n, dns.Addresses(publicAddress))
	}
	agent := t.Start(ctx, subject.Spec{Allow: []subject.Rule{{Host: "*." + name, Port: u.Port()}}}).Agent
	for _, f := range forms(t) {
		t.Control(f.name+" to a name below", f.ask(ctx, agent, fmt.Sprintf("a.%s:%d", name, u.Port())), kit.BeStatus(200))
		heard := u.Heard()
		t.Attempt(f.name+" to the apex", f.ask(ctx, agent, fmt.Sprintf("%s:%d", name, u.Port())), f.refused)
		t.FarSide("connections for the attempt", u.Heard()-heard, kit.BeNone())
	}
	t.FarSide("DNS queries for the apex", t.Queries(name), kit.BeNone())
}
