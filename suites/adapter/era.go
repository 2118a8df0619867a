package adapter

import (
	"context"

	"bridgecheck/fakes/attempt"
	"bridgecheck/suites/catalog"
	"bridgecheck/suites/kit"
	"bridgecheck/suites/subject"
)

var _ = kit.Table(catalog.Case{
	ID:     "MCP-017",
	Title:  "answers server/discover at once, whatever the server would make of it",
	Must:   "The era of a server MUST be learnt at its start: server/discover before initialize MUST get an answer at once also where the server would ignore it, die on it or flood stderr on it.",
	Level:  catalog.Interoperability,
	Clause: "8.17",
	Needs:  []subject.Capability{subject.HostServers, subject.RelayPorts},
	Host:   []catalog.HostFact{catalog.HostUserNS},
	Faults: []string{"discover-waits", "discover-death-fatal"},
	Why:    "An agent of the newer era probes first. One that meets silence waits seconds for each server, at every start.",
}, []kit.Row[[]string]{
	{Name: "unknown-method", Value: []string{"--era", "legacy"}},
	{Name: "ignores", Value: []string{"--era", "legacy", "--discover", "ignore"}},
	{Name: "dies", Value: []string{"--era", "legacy", "--discover", "die"}},
	{Name: "floods", Value: []string{"--era", "legacy", "--discover", "flood"}},
}, func(ctx context.Context, t *kit.T, flags []string) {
	phase := t.Start(ctx, host(t.Server("new"), t.Server("old", flags...)))
	discover := func(server string) attempt.Observation {
		endpoint := stateless(phase.Agent.Endpoint(ctx, server), "server/discover")
		return endpoint.Promptly(ctx, request(`"d"`, "server/discover", withMeta("{}")))
	}
	t.Control("server/discover to a server that knows it", discover("new"), kit.BeStatus(200))

	answer := discover("old")
	t.Attempt("server/discover to one that does not", answer, kit.BeStatus(400, 404))
	t.Attempt("an error with the id", string(kit.Last(answer).ID), kit.Be(`"d"`))
	client := loopback.call(ctx, phase, "old", modern, "echo", map[string]any{"text": "fallen back"})
	t.Attempt("a client that probes first", client, kit.HaveText("fallen back"))
	t.Attempt("the version it came to", client.Headers["Mcp-Protocol-Version"], kit.Be(legacy))
	t.FarSide("initialize requests that the server had", count(t.Announced("old"), "request initialize"), kit.Be(1))
})
