package adapter

import (
	"context"

	"bridgecheck/fakes/mcp"
	"bridgecheck/suites/catalog"
	"bridgecheck/suites/kit"
	"bridgecheck/suites/subject"
)

var _ = kit.Table(catalog.Case{
	ID:     "MCP-008",
	Title:  "drains stderr and keeps its last lines",
	Must:   "A server that writes 1 MiB to stderr MUST NOT block; its last lines MUST be kept for errors.",
	Level:  catalog.Interoperability,
	Clause: "8.8",
	Needs:  []subject.Capability{subject.HostServers, subject.RelayPorts},
	Host:   []catalog.HostFact{catalog.HostUserNS},
	Faults: []string{"stderr-undrained", "first-lines-kept"},
	Why:    "A pipe that nobody reads is full after 64 KiB: the server stands in write(2) and looks dead.",
}, []kit.Row[func(context.Context, *kit.T)]{
	{Name: "at-start", Value: stderrAtStart},
	{Name: "in-a-call", Value: stderrInCall},
	{Name: "last-lines", Value: lastLines},
}, func(ctx context.Context, t *kit.T, body func(context.Context, *kit.T)) { body(ctx, t) })

func stderrAtStart(ctx context.Context, t *kit.T) {
	quiet, loud := t.Server("quiet"), t.Server("loud", "--stderr-bytes", "1048576")
	loud.StartTimeoutMS = 5000
	phase := t.Start(ctx, host(quiet, loud))
	arguments := map[string]any{"text": "heard"}
	t.Attempt("the phase starts", phase.Fate(ctx), kit.Be("the agent runs"))
	t.Control("a quiet server", loopback.call(ctx, phase, "quiet", legacy, "echo", arguments), kit.HaveText("heard"))
	t.Attempt("a loud one", loopback.call(ctx, phase, "loud", legacy, "echo", arguments), kit.HaveText("heard"))
}

func stderrInCall(ctx context.Context, t *kit.T) {
	_, session := session(ctx, t, loopback)
	t.Control("a call without", result(session.Post(ctx, scripted("1", mcp.Script{Text: "quiet"}))).Text, kit.Be("quiet"))
	loud := scripted("2", mcp.Script{Steps: []mcp.Step{{Flood: 1 << 20}}, Text: "loud"})
	t.Attempt("a call that writes 1 MiB to stderr", result(session.Promptly(ctx, loud)).Text, kit.Be("loud"))
}

func lastLines(ctx context.Context, t *kit.T) {
	t.Require(subject.Events)
	phase := t.Start(ctx, host(t.Server("jira")))
	session := loopback.endpoint(ctx, phase).Session(ctx, legacy, "{}")
	t.Control("a call", result(session.Post(ctx, scripted("1", mcp.Script{Text: "alive"}))).Text, kit.Be("alive"))

	dying := scripted("2", mcp.Script{Steps: []mcp.Step{{Flood: 1 << 17}, {Stderr: "JIRA_TOKEN is missing"}, {Exit: 3}}})
	answer := kit.Last(session.Promptly(ctx, dying))
	t.Attempt("the id of the answer to a call in which the server dies", string(answer.ID), kit.Be("2"))
	t.Attempt("the error names the server", answer.Error.Message, kit.Contain("jira"))
	exited := phase.AwaitEvent(ctx, subject.EventServerExited, nil)
	t.Attempt("the event that it has ended", exited.Server, kit.Be("jira"))
	t.Attempt("the last lines in it", exited.StderrTail, kit.Contain("JIRA_TOKEN is missing"))
}
