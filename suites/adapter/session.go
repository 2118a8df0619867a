package adapter

import (
	"context"

	"bridgecheck/fakes/mcp"
	"bridgecheck/suites/catalog"
	"bridgecheck/suites/kit"
	"bridgecheck/suites/subject"
)

var _ = kit.Table(catalog.Case{
	ID:     "MCP-010",
	Title:  "says 404 to a session it does not know, and lets a client come back to its own",
	Must:   "A request with an unknown or ended session id MUST be answered 404; a client that reconnects its stream MUST get what comes from then on, and the server MUST NOT be killed for it.",
	Level:  catalog.Interoperability,
	Clause: "8.10",
	Needs:  []subject.Capability{subject.HostServers, subject.RelayPorts},
	Host:   []catalog.HostFact{catalog.HostUserNS},
	Faults: []string{"unknown-session-400", "reconnect-ends-session"},
	Why:    "404 is what makes a client initialise again; at any other status it gives up or tries for ever.",
}, []kit.Row[func(context.Context, *kit.T, *kit.Agent, kit.Endpoint)]{
	{Name: "unknown-post", Value: unknown("POST", request("1", "ping", "{}"))},
	{Name: "unknown-get", Value: unknown("GET", "")},
	{Name: "unknown-delete", Value: unknown("DELETE", "")},
	{Name: "ended", Value: endedSession},
	{Name: "reconnect", Value: reconnect},
}, func(ctx context.Context, t *kit.T, body func(context.Context, *kit.T, *kit.Agent, kit.Endpoint)) {
	agent := t.Start(ctx, host(t.Server("jira"))).Agent
	session := agent.Endpoint(ctx, "jira").Session(ctx, legacy, "{}")
	t.Control("ping in a session", session.Post(ctx, request("1", "ping", "{}")), kit.BeStatus(200))
	body(ctx, t, agent, session)
})

func unknown(method, body string) func(context.Context, *kit.T, *kit.Agent, kit.Endpoint) {
	return func(ctx context.Context, t *kit.T, _ *kit.Agent, session kit.Endpoint) {
		before := len(t.Announced("jira"))
		stranger := session.With("Mcp-Session-Id", "0123456789abcdef")
		t.Attempt(method+" with a session id that was never given", stranger.Request(ctx, method, body), kit.BeStatus(404))
		t.FarSide("what reached the server of it", len(t.Announced("jira"))-before, kit.BeNone())
	}
}

func endedSession(ctx context.Context, t *kit.T, _ *kit.Agent, session kit.Endpoint) {
	t.Attempt("DELETE of the session", session.Request(ctx, "DELETE", ""), kit.BeStatus(200, 202, 204))
	t.Attempt("ping after it", session.Post(ctx, request("2", "ping", "{}")), kit.BeStatus(404))
}

func reconnect(ctx context.Context, t *kit.T, agent *kit.Agent, session kit.Endpoint) {
	t.Control("the first stream", session.Open(ctx, "first", "GET", ""), kit.BeStatus(200))
	t.Attempt("a second while the first is open", session.Open(ctx, "second", "GET", ""), kit.BeStatus(200))
	agent.Close(ctx, "second")
	t.Attempt("a third when the second is gone", session.Open(ctx, "third", "GET", ""), kit.BeStatus(200))

	// Two calls in progress: what belongs to neither goes to the open stream.
	folder := t.Dir("both")
	said := `{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}`
	session.Begin(ctx, "waiting", scripted("3", mcp.Script{Steps: []mcp.Step{{Gather: folder, Times: 2}, {Hear: "go on"}}}))
	session.Begin(ctx, "saying", scripted("4", mcp.Script{Steps: []mcp.Step{{Gather: folder, Times: 2}, {Say: said}, {Hear: "go on"}}}))
	t.Attempt("what the server says then, on the third", agent.Event(ctx, "third").Text, kit.Be(said))
	session.Post(ctx, `{"jsonrpc":"2.0","method":"notifications/go on"}`)
	t.Attempt("a call of before is answered", len(result(agent.Finish(ctx, "waiting")).Heard), kit.Be(1))
	t.FarSide("times that a server was stopped", stopped(t.Announced("jira")), kit.BeNone())
}
