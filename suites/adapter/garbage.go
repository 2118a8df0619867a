package adapter

import (
	"context"
	"strings"

	"bridgecheck/fakes/mcp"
	"bridgecheck/suites/catalog"
	"bridgecheck/suites/kit"
	"bridgecheck/suites/subject"
)

// garbage are lines that are no messages.
var garbage = []string{
	"Server listening on stdio", "{not json", `"a string"`, "42", "[]", `{"jsonrpc":"2.0"}`, `{"hello":"world"}`, "\x1b[32mready\x1b[0m",
}

var _ = kit.Table(catalog.Case{
	ID:     "MCP-007",
	Title:  "skips lines that are no messages, and ends a server that writes nothing else",
	Must:   "Lines on the server's stdout that are no JSON-RPC MUST be skipped and never forwarded; a flood of them MUST end the server with a clear error.",
	Level:  catalog.Interoperability,
	Clause: "8.7",
	Needs:  []subject.Capability{subject.HostServers, subject.RelayPorts},
	Host:   []catalog.HostFact{catalog.HostUserNS},
	Faults: []string{"garbage-ends-server", "garbage-flood-endured", "garbage-forwarded"},
	Why:    "One banner line on stdout has made clients give up; a server that only chatters must not be read for ever.",
}, []kit.Row[func(context.Context, *kit.T)]{
	{Name: "before", Value: garbageBefore},
	{Name: "in-a-call", Value: garbageInCall},
	{Name: "flood", Value: garbageFlood},
}, func(ctx context.Context, t *kit.T, body func(context.Context, *kit.T)) { body(ctx, t) })

func garbageBefore(ctx context.Context, t *kit.T) {
	phase := t.Start(ctx, host(t.Server("clean"), t.Server("jira", "--garbage", "50")))
	arguments := map[string]any{"text": "heard"}
	t.Control("a server without garbage", loopback.call(ctx, phase, "clean", legacy, "echo", arguments), kit.HaveText("heard"))
	t.Attempt("a server that writes 50 bad lines first", loopback.call(ctx, phase, "jira", legacy, "echo", arguments), kit.HaveText("heard"))
	t.FarSide("calls that it had", count(t.Announced("jira"), "request tools/call"), kit.Be(1))
}

func garbageInCall(ctx context.Context, t *kit.T) {
	_, session := session(ctx, t, loopback)
	note := `{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":"good"}}`
	clean := session.Post(ctx, scripted("1", mcp.Script{Steps: []mcp.Step{{Say: note}}}))
	t.Control("messages of a call without garbage", len(kit.Messages(clean)), kit.Be(2))

	steps := []mcp.Step{}
	for _, line := range garbage {
		steps = append(steps, mcp.Step{Say: line}, mcp.Step{Say: note})
	}
	answer := session.Post(ctx, scripted("2", mcp.Script{Steps: steps, Text: "done"}))
	t.Attempt("messages of one with garbage between them", len(kit.Messages(answer)), kit.Be(len(garbage)+1))
	t.Attempt("the last", result(answer).Text, kit.Be("done"))
	for _, line := range garbage {
		t.Attempt("the answer has "+line, strings.Contains(answer.Body, "\ndata: "+line+"\n"), kit.Be(false))
	}
}

func garbageFlood(ctx context.Context, t *kit.T) {
	t.Require(subject.Events)
	spec := host(t.Server("jira"))
	spec.Limits = &subject.Limits{GarbageLines: 20}
	phase := t.Start(ctx, spec)
	session := loopback.endpoint(ctx, phase).Session(ctx, legacy, "{}")
	some := scripted("1", mcp.Script{Steps: []mcp.Step{{Say: "noise", Times: 19}}, Text: "still here"})
	t.Control("19 bad lines in a row", result(session.Post(ctx, some)).Text, kit.Be("still here"))

	before := len(processes(t))
	t.Control("processes of the server", before, kit.Differ(0))
	flood := scripted("2", mcp.Script{Steps: []mcp.Step{{Say: "noise", Times: 1000}, {Hear: "never"}}})
	answer := kit.Last(session.Promptly(ctx, flood))
	t.Attempt("the error after 1000", answer.Error.Message, kit.Contain("jira"))
	t.Attempt("its id", string(answer.ID), kit.Be("2"))
	exited := phase.AwaitEvent(ctx, subject.EventServerExited, nil)
	t.Attempt("the server that is told to have ended", exited.Server, kit.Be("jira"))
	soon(ctx, t, "the server's process is gone", func() bool { return len(processes(t)) < before })
}

// processes are those of server jira.
func processes(t *kit.T) []string {
	found := []string{}
	for _, line := range t.Strays() {
		if strings.Contains(line, "--name jira") {
			found = append(found, line)
		}
	}
	return found
}
