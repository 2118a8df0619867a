package adapter

import (
	"context"

	"bridgecheck/fakes/attempt"
	"bridgecheck/suites/catalog"
	"bridgecheck/suites/kit"
	"bridgecheck/suites/subject"
)

// pairing is a client that prefers a version, and a server of an era.
type pairing struct {
	client, server string
	version        string // that they come to; empty: they do not
}

var _ = kit.Table(catalog.Case{
	ID:     "MCP-002",
	Title:  "lets clients and servers of both eras come to the same version as without it",
	Must:   "Clients of 2025-11-25 and before, and of 2026-07-28, with servers of either era MUST come through the bridge to the result that they come to without it: the same version, or the client's own fallback, or the same failure.",
	Level:  catalog.Interoperability,
	Clause: "8.2",
	Needs:  []subject.Capability{subject.HostServers, subject.RelayPorts},
	Host:   []catalog.HostFact{catalog.HostUserNS},
	Faults: []string{"one-era-only", "stateless-era-only"},
	Why:    "Agents and servers change eras at different times; a bridge between them must not have an era of its own.",
}, []kit.Row[pairing]{
	{Name: "legacy-legacy", Value: pairing{legacy, "legacy", legacy}},
	{Name: "legacy-both", Value: pairing{legacy, "both", legacy}},
	{Name: "legacy-modern", Value: pairing{legacy, "modern", ""}},
	{Name: "modern-legacy", Value: pairing{modern, "legacy", legacy}},
	{Name: "modern-both", Value: pairing{modern, "both", modern}},
	{Name: "modern-modern", Value: pairing{modern, "modern", modern}},
	{Name: "2024-11-05", Value: pairing{"2024-11-05", "both", "2024-11-05"}},
	{Name: "2025-03-26", Value: pairing{"2025-03-26", "both", "2025-03-26"}},
	{Name: "2025-06-18", Value: pairing{"2025-06-18", "both", "2025-06-18"}},
}, func(ctx context.Context, t *kit.T, p pairing) {
	arguments := map[string]any{"text": "héllo"}
	plain := t.Outside(ctx).Do(ctx, attempt.Attempt{
		Op: attempt.OpMCP, URL: t.HTTPServer(ctx, "plain", "--era", p.server), Era: p.client, Tool: "echo", Arguments: arguments,
	})
	t.Control("the version that they come to without a bridge", plain.Headers["Mcp-Protocol-Version"], kit.Be(p.version))
	want := "héllo"
	if p.version == "" {
		want = ""
	}
	t.Control("the result of the call without a bridge", plain.Text, kit.Be(want))

	phase := t.Start(ctx, host(t.Server("jira", "--era", p.server)))
	got := loopback.call(ctx, phase, "jira", p.client, "echo", arguments)
	t.Attempt("the version that they come to through it", got.Headers["Mcp-Protocol-Version"], kit.Be(p.version))
	t.Attempt("the result of the call", got.Text, kit.Be(want))
	t.Attempt("the tools", got.Names, kit.Be(plain.Names))
	calls := 0
	if p.version != "" {
		calls = 1
	}
	t.FarSide("calls that the server had", count(t.Announced("jira"), "request tools/call"), kit.Be(calls))
})
