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
	ID:     "MCP-003",
	Title:  "carries the server's questions to the client that called, and the answers back",
	Must:   "Requests of the server (sampling, elicitation, roots) MUST reach the client whose call caused them, and their answers MUST come back; where the client lacks the capability the server MUST get an error at once.",
	Level:  catalog.Interoperability,
	Clause: "8.3",
	Needs:  []subject.Capability{subject.HostServers, subject.RelayPorts},
	Host:   []catalog.HostFact{catalog.HostUserNS},
	Faults: []string{"questions-dropped", "capability-ignored"},
	Why:    "Gateways that drop what a server asks leave the call hanging until it times out.",
}, []kit.Row[func(context.Context, *kit.T)]{
	{Name: "sampling", Value: asks("sampling", "sampling/createMessage", legacy)},
	{Name: "elicitation", Value: asks("elicitation", "elicitation/create", legacy)},
	{Name: "roots", Value: asks("roots", "roots/list", legacy)},
	{Name: "sampling-stateless", Value: asks("sampling", "sampling/createMessage", modern)},
	{Name: "elicitation-stateless", Value: asks("elicitation", "elicitation/create", modern)},
	{Name: "right-client", Value: rightClient},
	{Name: "no-capability", Value: noCapability},
}, func(ctx context.Context, t *kit.T, body func(context.Context, *kit.T)) { body(ctx, t) })

// asks compares a tool that asks the client, with the bridge and without: in the
// older era by a request, in the newer one by an input-required result.
func asks(what, method, era string) func(context.Context, *kit.T) {
	return func(ctx context.Context, t *kit.T) {
		att := attempt.Attempt{
			Op: attempt.OpMCP, URL: t.HTTPServer(ctx, "plain"), Era: era, Tool: "ask",
			Arguments: map[string]any{"what": what}, Args: []string{what, "listen"},
		}
		if era == modern {
			att.Args = []string{what}
		}
		plain := t.Outside(ctx).Do(ctx, att)
		t.Control("the question without a bridge", plain.Text, kit.Contain("answered by the probe"))

		phase := t.Start(ctx, host(t.Server("jira")))
		att.URL = loopback.url(ctx, phase, "jira")
		got := phase.Agent.Do(ctx, att)
		t.Attempt("the tool's result through the bridge", got, kit.HaveText(plain.Text))
		t.Attempt("what the client was asked", got.Events, kit.Be(plain.Events))
		t.Attempt("it was asked for "+what, got.Events, kit.Contain(method))
	}
}

// rightClient has two clients in a call each; both are asked under the same id.
func rightClient(ctx context.Context, t *kit.T) {
	phase := t.Start(ctx, host(t.Server("jira")))
	endpoint := loopback.endpoint(ctx, phase)
	names := []string{"ann", "bob"}
	sessions, questions := map[string]kit.Endpoint{}, map[string]string{}
	for _, name := range names {
		sessions[name] = endpoint.Session(ctx, legacy, `{"elicitation":{}}`)
		alone := sessions[name].Post(ctx, scripted("0", mcp.Script{Text: name}))
		t.Control("a call of "+name, result(alone).Text, kit.Be(name))
	}
	for _, name := range names {
		said := request(`"q"`, "elicitation/create", fmt.Sprintf(`{"message":"for %s","requestedSchema":{"type":"object","properties":{}}}`, name))
		asking := scripted("1", mcp.Script{Steps: []mcp.Step{{Say: said}, {Hear: "elicited"}}})
		t.Attempt("the answer to "+name+" begins", sessions[name].Open(ctx, name, "POST", asking), kit.BeStatus(200))
		questions[name] = phase.Agent.Event(ctx, name).Text
		t.Attempt("the question to "+name, questions[name], kit.Contain("for "+name))
	}
	for _, name := range names {
		answer := fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":{"action":"accept","content":{"elicited":"by %s"}}}`, idOf(questions[name]), name)
		t.Attempt(name+" answers", sessions[name].Post(ctx, answer), kit.BeStatus(202))
	}
	for _, name := range names {
		heard := only(eventResult(phase.Agent.Event(ctx, name)).Heard)
		t.FarSide("the answer that the call of "+name+" heard", heard, kit.Contain("by "+name))
	}
}

func noCapability(ctx context.Context, t *kit.T) {
	_, session := session(ctx, t, loopback)
	t.Control("a call without a question", result(session.Post(ctx, scripted("0", mcp.Script{Text: "none"}))).Text, kit.Be("none"))
	for i, method := range []string{"sampling/createMessage", "elicitation/create", "roots/list"} {
		id := fmt.Sprintf(`"q-%d"`, i)
		script := mcp.Script{Steps: []mcp.Step{{Say: request(id, method, "{}")}, {Hear: id}}}
		heard := only(result(session.Promptly(ctx, scripted(fmt.Sprint(i+1), script))).Heard)
		t.FarSide("what the server gets that asks for "+method, heard, kit.Contain(`"error"`))
	}
}
