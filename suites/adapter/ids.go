package adapter

import (
	"context"

	"bridgecheck/fakes/mcp"
	"bridgecheck/suites/catalog"
	"bridgecheck/suites/kit"
	"bridgecheck/suites/subject"
)

// pair are two requests that are in progress at the same time.
type pair struct {
	era      string
	sessions int
	ids      [2]string
}

var _ = kit.Table(catalog.Case{
	ID:     "MCP-005",
	Title:  "gives each of two requests with the same id its own answer",
	Must:   "Two clients of one server that use the same JSON-RPC id at once MUST get their own answers, under their own ids; 1 and \"1\" MUST differ.",
	Level:  catalog.Interoperability,
	Clause: "8.5",
	Needs:  []subject.Capability{subject.HostServers, subject.RelayPorts},
	Host:   []catalog.HostFact{catalog.HostUserNS},
	Faults: []string{"ids-shared", "id-type-ignored"},
	Why:    "Every client counts from 1. Gateways have given one user the answer to another's question.",
}, []kit.Row[pair]{
	{Name: "two-sessions", Value: pair{legacy, 2, [2]string{`1`, `1`}}},
	{Name: "stateless", Value: pair{modern, 0, [2]string{`1`, `1`}}},
	{Name: "stateless-types", Value: pair{modern, 0, [2]string{`1`, `"1"`}}},
	{Name: "number-and-string", Value: pair{legacy, 1, [2]string{`1`, `"1"`}}},
}, func(ctx context.Context, t *kit.T, p pair) {
	agent := t.Start(ctx, host(t.Server("jira"))).Agent
	endpoint := agent.Endpoint(ctx, "jira")
	endpoints := [2]kit.Endpoint{stateless(endpoint, mcp.ScriptMethod), stateless(endpoint, mcp.ScriptMethod)}
	send := func(id string, s mcp.Script) string { return modernScripted(id, s) }
	if p.era == legacy {
		send = scripted
		endpoints[0] = endpoint.Session(ctx, legacy, "{}")
		endpoints[1] = endpoints[0]
		if p.sessions == 2 {
			endpoints[1] = endpoint.Session(ctx, legacy, "{}")
		}
	}
	alone := endpoints[0].Post(ctx, send(p.ids[0], mcp.Script{Text: "alone"}))
	t.Control("one request alone", result(alone).Text, kit.Be("alone"))

	// Neither is answered before the server has got both.
	folder := t.Dir("both")
	steps := []mcp.Step{{Gather: folder, Times: 2}}
	endpoints[0].Begin(ctx, "first", send(p.ids[0], mcp.Script{Steps: steps, Text: "first"}))
	endpoints[1].Begin(ctx, "second", send(p.ids[1], mcp.Script{Steps: steps, Text: "second"}))
	for i, name := range []string{"first", "second"} {
		answer := agent.Finish(ctx, name)
		t.Attempt("text in the answer to the "+name, result(answer).Text, kit.Be(name))
		t.Attempt("its id", string(kit.Last(answer).ID), kit.Be(p.ids[i]))
	}
	t.FarSide("scripts that the server had", count(t.Announced("jira"), "request "+mcp.ScriptMethod), kit.Be(3))
})
