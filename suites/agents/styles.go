package agents

import (
	"context"
	"net"

	"bridgecheck/fakes/attempt"
	"bridgecheck/fakes/styles"
	"bridgecheck/suites/catalog"
	"bridgecheck/suites/kit"
	"bridgecheck/suites/subject"
)

var _ = kit.Table(catalog.Case{
	ID:     "AGT-001",
	Title:  "lets clients of every style reach a declared server, and no undeclared one",
	Must:   "Each style of client MUST reach a declared server, by loopback and, if it uses a proxy at all, by name, and MUST be refused an undeclared host: curl-like, Go, Node with and without the proxy environment, Bun-like, Python-like, those that ignore every variable or NO_PROXY, by CONNECT and in absolute form.",
	Level:  catalog.Interoperability,
	Clause: "10.1",
	Needs:  []subject.Capability{subject.HostServers, subject.RelayPorts, subject.Connect, subject.AbsoluteForm, subject.VirtualNames},
	Host:   []catalog.HostFact{catalog.HostUserNS},
	Faults: []string{"node-without-switch", "own-loopback-refused", "open-proxy"},
	Why:    "Agents bring their HTTP stack with them; a bridge that serves only some of them looks broken to the others.",
}, rows(), func(ctx context.Context, t *kit.T, s styles.Style) {
	allowed, blocked := t.HTTP(), t.HTTP()
	via := "style:" + s.Name
	t.Control("the undeclared host outside", t.Outside(ctx).Get(ctx, blocked.URL(), via), kit.BeStatus(200))
	heard, asked := blocked.Heard(), t.Queries(blocked.Name)

	agent := t.Start(ctx, subject.Spec{Servers: []subject.Server{t.Server("jira")}, Allow: []subject.Rule{allowed.Rule()}}).Agent
	t.Attempt("the server by its loopback port", call(ctx, agent, agent.Env(ctx, kit.ServerVariable("jira", "URL")), via), kit.HaveText("reached"))
	sessions := 1
	if t.Subject().Claims(subject.PathRoutes) {
		t.Attempt("the server by its path on the proxy's port", call(ctx, agent, "http://"+agent.Proxy(ctx)+"/mcp/jira", via), kit.HaveText("reached"))
		sessions++
	}
	if s.Variables != nil {
		t.Attempt("the server by its name", call(ctx, agent, "http://jira.mcp.internal/mcp", via), kit.HaveText("reached"))
		t.Attempt("a declared host", agent.Get(ctx, allowed.URL(), via), kit.BeStatus(200))
		t.Attempt("an undeclared one", agent.Get(ctx, blocked.URL(), via), kit.BeRefusal())
		sessions++
	} else {
		direct := "http://" + net.JoinHostPort(blocked.Addr().Addr().String(), "80") + "/"
		t.Attempt("an undeclared one by address", agent.Get(ctx, direct, via), kit.HaveErrno("ENETUNREACH"))
	}
	t.FarSide("calls that the server had", called(t), kit.Be(sessions))
	t.FarSide("connections at the undeclared host from the sandbox", blocked.Heard()-heard, kit.BeNone())
	t.FarSide("DNS queries for it from the sandbox", t.Queries(blocked.Name)-asked, kit.BeNone())
})

func rows() []kit.Row[styles.Style] {
	var all []kit.Row[styles.Style]
	for _, s := range styles.All {
		all = append(all, kit.Row[styles.Style]{Name: s.Name, Value: s})
	}
	return all
}

// call is one session of an MCP client that goes out in this style.
func call(ctx context.Context, a *kit.Agent, url, via string) attempt.Observation {
	return a.Do(ctx, attempt.Attempt{Op: attempt.OpMCP, URL: url, Via: via, Tool: "echo", Arguments: map[string]any{"text": "reached"}})
}

func called(t *kit.T) int {
	n := 0
	for _, line := range t.Announced("jira") {
		if line == "request tools/call" {
			n++
		}
	}
	return n
}
