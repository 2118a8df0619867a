package adapter

import (
	"context"
	"fmt"

	"bridgecheck/fakes/attempt"
	"bridgecheck/fakes/mcp"
	"bridgecheck/suites/catalog"
	"bridgecheck/suites/kit"
	"bridgecheck/suites/subject"
)

var _ = kit.Table(catalog.Case{
	ID:     "MCP-009",
	Title:  "passes on each event of a stream by itself",
	Must:   "Streams MUST be flushed event by event: a server that sends the next only after the client has answered the last MUST NOT stand still; a GET stream MUST give its first byte before any event.",
	Level:  catalog.Interoperability,
	Clause: "8.9",
	Needs:  []subject.Capability{subject.HostServers},
	Host:   []catalog.HostFact{catalog.HostUserNS},
	Faults: []string{"stream-not-flushed", "stream-without-first-byte"},
	Why:    "One hop that buffers makes progress, elicitation and sampling hang until the call is given up.",
}, []kit.Row[func(context.Context, *kit.T)]{
	{Name: "loopback", Value: interleaved(loopback)},
	{Name: "absolute", Value: interleaved(absolute)},
	{Name: "connect", Value: interleaved(connect)},
	{Name: "path", Value: interleaved(path)},
	{Name: "first-byte", Value: firstByte},
	{Name: "first-byte-proxy", Value: firstByteProxied},
}, func(ctx context.Context, t *kit.T, body func(context.Context, *kit.T)) { body(ctx, t) })

// interleaved lets the server ask three times in one call.
func interleaved(d door) func(context.Context, *kit.T) {
	return func(ctx context.Context, t *kit.T) {
		d.require(t)
		agent, session := session(ctx, t, d)
		t.Control("a script without a question", result(session.Post(ctx, scripted("0", mcp.Script{Text: "none"}))).Text, kit.Be("none"))
		var steps []mcp.Step
		for i := range 3 {
			steps = append(steps, mcp.Step{Say: request(fmt.Sprintf(`"ask-%d"`, i), "vendor/ask", "{}")}, mcp.Step{Hear: fmt.Sprintf("answer-%d", i)})
		}
		t.Attempt("the answer begins", session.Open(ctx, "stream", "POST", scripted("1", mcp.Script{Steps: steps})), kit.BeStatus(200))
		for i := range 3 {
			asked := agent.Event(ctx, "stream")
			t.Attempt(fmt.Sprintf("question %d", i), asked.Text, kit.Contain("vendor/ask"))
			answered := session.Post(ctx, fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":{"answer-%d":true}}`, idOf(asked.Text), i))
			t.Attempt(fmt.Sprintf("answer %d is taken", i), answered, kit.BeStatus(202))
		}
		t.FarSide("answers that the server heard", len(eventResult(agent.Event(ctx, "stream")).Heard), kit.Be(3))
	}
}

func firstByte(ctx context.Context, t *kit.T) {
	loopback.require(t)
	openStream(ctx, t, loopback)
}

func firstByteProxied(ctx context.Context, t *kit.T) {
	absolute.require(t)
	openStream(ctx, t, absolute)
}

func openStream(ctx context.Context, t *kit.T, d door) {
	agent, session := session(ctx, t, d)
	t.Control("a script", result(session.Post(ctx, scripted("0", mcp.Script{Text: "done"}))).Text, kit.Be("done"))
	t.Attempt("GET is answered", session.Open(ctx, "stream", "GET", ""), kit.BeStatus(200))
	first := agent.Do(ctx, attempt.Attempt{Op: attempt.OpReceive, Conn: "stream", Size: 1, TimeoutMS: 2000})
	t.Attempt("a byte comes before any event", int(first.Bytes), kit.Be(1))
}

// session is one of the older era at a door, and the agent that has it.
func session(ctx context.Context, t *kit.T, d door) (*kit.Agent, kit.Endpoint) {
	phase := t.Start(ctx, host(t.Server("jira")))
	return phase.Agent, d.endpoint(ctx, phase).Session(ctx, legacy, "{}")
}
