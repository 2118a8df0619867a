package adapter

import (
	"context"

	"bridgecheck/fakes/mcp"
	"bridgecheck/suites/catalog"
	"bridgecheck/suites/kit"
	"bridgecheck/suites/subject"
)

var _ = kit.Table(catalog.Case{
	ID:     "MCP-014",
	Title:  "delivers what a client has missed when it resumes a stream",
	Must:   "A stream that is resumed with Last-Event-ID delivers what was missed, once and in order.",
	Level:  catalog.House,
	Clause: "8.14",
	Needs:  []subject.Capability{subject.HostServers, subject.RelayPorts},
	Host:   []catalog.HostFact{catalog.HostUserNS},
	Faults: []string{"notifications-kept-to-resume"},
	Why:    "A laptop that sleeps drops its connections; the answer to a long call must not be lost with one.",
}, []kit.Row[func(context.Context, *kit.T)]{
	{Name: "call", Value: resumeCall},
	{Name: "stream", Value: resumeStream},
}, func(ctx context.Context, t *kit.T, body func(context.Context, *kit.T)) { body(ctx, t) })

func note(n string) string {
	return `{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":"` + n + `"}}`
}

func resumeCall(ctx context.Context, t *kit.T) {
	agent, session := session(ctx, t, loopback)
	script := mcp.Script{Steps: []mcp.Step{{Say: note("1")}, {Hear: "go on"}, {Say: note("2")}, {Say: note("3")}, {Hear: "come back"}}, Text: "done"}
	t.Attempt("the call begins", session.Open(ctx, "call", "POST", scripted("1", script)), kit.BeStatus(200))
	first := agent.Event(ctx, "call")
	t.Control("the first event", first.Text, kit.Be(note("1")))
	missed(ctx, t, agent, session, first.Headers["id"])
	session.Post(ctx, `{"jsonrpc":"2.0","method":"notifications/come back"}`)
	t.Attempt("and the answer", eventResult(agent.Event(ctx, "resumed")).Text, kit.Be("done"))
}

// missed drops the stream, has the server say two messages, and resumes it.
func missed(ctx context.Context, t *kit.T, agent *kit.Agent, session kit.Endpoint, last string) {
	t.Attempt("the event has an id", last, kit.Differ(""))
	agent.Close(ctx, "call")
	for range 20 { // a client that has more to say meanwhile, none of it with an answer
		session.Post(ctx, `{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":"none","progress":1}}`)
	}
	session.Post(ctx, `{"jsonrpc":"2.0","method":"notifications/go on"}`)
	t.Attempt("the stream is resumed", session.With("Last-Event-ID", last).Open(ctx, "resumed", "GET", ""), kit.BeStatus(200))
	t.Attempt("what was missed", agent.Event(ctx, "resumed").Text, kit.Be(note("2")))
	t.Attempt("and the next", agent.Event(ctx, "resumed").Text, kit.Be(note("3")))
}

func resumeStream(ctx context.Context, t *kit.T) {
	agent, session := session(ctx, t, loopback)
	t.Attempt("the stream opens", session.Open(ctx, "call", "GET", ""), kit.BeStatus(200))
	script := mcp.Script{Steps: []mcp.Step{
		{Say: `{"jsonrpc":"2.0","id":$ID,"result":{"text":"first"}}`}, {Say: note("1")}, {Hear: "go on"}, {Say: note("2")}, {Say: note("3")},
	}}
	t.Control("the call is answered", result(session.Post(ctx, scripted("1", script))).Text, kit.Be("first"))
	first := agent.Event(ctx, "call")
	t.Control("the first event", first.Text, kit.Be(note("1")))
	missed(ctx, t, agent, session, first.Headers["id"])
}
