package allowlist

import (
	"context"
	"net/url"

	"bridgecheck/fakes/attempt"
	"bridgecheck/suites/catalog"
	"bridgecheck/suites/kit"
	"bridgecheck/suites/subject"
)

// way is a name of a server and how a client of MCP goes to it.
type way struct{ authority, via string }

var _ = kit.Table(catalog.Case{
	ID:     "ALW-029",
	Title:  "reaches a server by each of its names, in both forms",
	Must:   "Every name and port that the spec gives a server, NAME.mcp.internal:80 by default, MUST reach that server by CONNECT and by absolute form.",
	Level:  catalog.Interoperability,
	Clause: "5.29",
	Needs:  []subject.Capability{subject.VirtualNames, subject.HostServers},
	Faults: []string{"virtual-by-connect-only"},
	Why:    "Some clients tunnel http URLs, others send them in absolute form.",
}, []kit.Row[way]{
	{Name: "default-connect", Value: way{"wiki.mcp.internal", "connect"}},
	{Name: "default-absolute", Value: way{"wiki.mcp.internal", "proxy"}},
	{Name: "name-port-connect", Value: way{"jira:8080", "connect"}},
	{Name: "name-port-absolute", Value: way{"jira:8080", "proxy"}},
	{Name: "second-name-connect", Value: way{"tickets.example.test", "connect"}},
	{Name: "second-name-absolute", Value: way{"tickets.example.test", "proxy"}},
}, func(ctx context.Context, t *kit.T, w way) {
	if w.via == "proxy" {
		t.Require(subject.AbsoluteForm)
	} else {
		t.Require(subject.Connect)
	}
	jira, wiki := t.Server("jira", "--nonce", "is-jira"), t.Server("wiki", "--nonce", "is-wiki")
	jira.Names = []string{"jira:8080", "tickets.example.test:80"}
	phase := t.Start(ctx, subject.Spec{Servers: []subject.Server{jira, wiki}})
	t.Control("CONNECT to a name that no server has", phase.Agent.Connect(ctx, "nobody.mcp.internal:80"), kit.BeStatus(403))

	want := "is-jira"
	if w.authority == "wiki.mcp.internal" {
		want = "is-wiki"
	}
	answer := whoAmI(ctx, phase, w)
	t.Attempt("MCP session with "+w.authority, answer, kit.Succeed())
	t.Attempt("which server answered", answer.Text, kit.Contain(`"nonce":"`+want+`"`))
	host := (&url.URL{Host: w.authority}).Hostname()
	t.FarSide("DNS queries for the name", t.Queries(host), kit.BeNone())
})

// whoAmI calls the tool of that name, at the endpoint's path that the ready
// event tells.
func whoAmI(ctx context.Context, phase *kit.Phase, w way) attempt.Observation {
	path := ""
	for _, d := range phase.Ready(ctx).Doors {
		if d.Kind == "proxy" && d.Transport == "http" {
			path = part(d.URL).Path
		}
	}
	return phase.Agent.Do(ctx, attempt.Attempt{
		Op: attempt.OpMCP, URL: "http://" + w.authority + path, Via: w.via, Tool: "whoami",
	})
}

// part is a door's URL, empty when it is none.
func part(raw string) *url.URL {
	u, err := url.Parse(raw)
	if err != nil {
		return &url.URL{}
	}
	return u
}
