package adapter

import (
	"context"

	"bridgecheck/fakes/attempt"
	"bridgecheck/suites/catalog"
	"bridgecheck/suites/kit"
	"bridgecheck/suites/subject"
)

// client is a client of an era at a door.
type client struct {
	door door
	era  string
}

var _ = kit.Table(catalog.Case{
	ID:     "MCP-001",
	Title:  "serves a stdio server at every door, to clients of either era",
	Must:   "A client MUST be able to initialise, list the tools and call one at every door that the subject claims: a name through the proxy in absolute form and by CONNECT, a loopback port, a path of the proxy port, a Unix socket; by streamable HTTP, legacy SSE and stdio.",
	Level:  catalog.Interoperability,
	Clause: "8.1",
	Needs:  []subject.Capability{subject.HostServers},
	Host:   []catalog.HostFact{catalog.HostUserNS},
	Faults: []string{"names-lead-to-one-server", "routes-lead-to-one-server", "ports-lead-to-one-server", "socket-unseen", "stdio-program-unseen", "sse-endpoint-absolute"},
	Why:    "Agents differ in how they take an http URL to a proxy, and whether they do at all.",
}, []kit.Row[client]{
	{Name: "absolute-legacy", Value: client{absolute, legacy}},
	{Name: "absolute-modern", Value: client{absolute, modern}},
	{Name: "connect-legacy", Value: client{connect, legacy}},
	{Name: "connect-modern", Value: client{connect, modern}},
	{Name: "loopback-legacy", Value: client{loopback, legacy}},
	{Name: "loopback-modern", Value: client{loopback, modern}},
	{Name: "path-legacy", Value: client{path, legacy}},
	{Name: "path-modern", Value: client{path, modern}},
	{Name: "unix-legacy", Value: client{socket, legacy}},
	{Name: "unix-modern", Value: client{socket, modern}},
	{Name: "sse-loopback", Value: client{events, "2024-11-05"}},
	{Name: "sse-path", Value: client{pathed, "2024-11-05"}},
	{Name: "stdio-legacy", Value: client{lines, legacy}},
	{Name: "stdio-modern", Value: client{lines, modern}},
	{Name: "sse-absolute", Value: client{proxied, "2024-11-05"}},
}, func(ctx context.Context, t *kit.T, c client) {
	c.door.require(t)
	arguments := map[string]any{"text": "héllo"}
	plain := t.Outside(ctx).Do(ctx, attempt.Attempt{
		Op: attempt.OpMCP, URL: t.HTTPServer(ctx, "plain"), Era: c.era, Tool: "echo", Arguments: arguments,
	})
	t.Control("the client and a server without a bridge", plain, kit.HaveText("héllo"))

	servers := host(t.Server("wiki"), t.Server("jira"))
	if c.door.transport == "sse" {
		for i := range servers.Servers {
			servers.Servers[i].Transports = []string{"http", "sse"}
		}
	}
	servers.Agent = &subject.Agent{Transports: []string{c.door.transport}}
	phase := t.Start(ctx, servers)
	if c.door.transport == "stdio" && phase.Fate(ctx) == "exit code 125" {
		t.NotApplicable("an agent that only speaks stdio is refused, as clause 7.11 has it")
	}
	got := c.door.call(ctx, phase, "jira", c.era, "echo", arguments)
	t.Attempt("the same through the door", got, kit.HaveText("héllo"))
	t.Attempt("the protocol version", got.Headers["Mcp-Protocol-Version"], kit.Be(c.era))
	t.Attempt("the tools", got.Names, kit.Be(plain.Names))
	t.FarSide("calls that the server had", count(t.Announced("jira"), "request tools/call"), kit.Be(1))
	t.FarSide("calls that the other server had", count(t.Announced("wiki"), "request tools/call"), kit.BeNone())
})
