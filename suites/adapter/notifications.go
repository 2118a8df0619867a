package adapter

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"bridgecheck/fakes/mcp"
	"bridgecheck/suites/catalog"
	"bridgecheck/suites/kit"
	"bridgecheck/suites/subject"
)

// notes are the notifications that a server sends of its own accord; progress
// belongs to a call.
var notes = []string{
	`{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":$TOKEN,"progress":1,"total":2}}`,
	`{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":"a line"}}`,
	`{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}`,
	`{"jsonrpc":"2.0","method":"notifications/prompts/list_changed"}`,
	`{"jsonrpc":"2.0","method":"notifications/resources/list_changed"}`,
	`{"jsonrpc":"2.0","method":"notifications/resources/updated","params":{"uri":"file:///a"}}`,
}

var _ = kit.Table(catalog.Case{
	ID:     "MCP-004",
	Title:  "passes all notifications both ways",
	Must:   "Notifications MUST pass both ways: progress, cancelled, message, the three list_changed, resources/updated; those of a call on its stream, others on a stream that is open for them.",
	Level:  catalog.Interoperability,
	Clause: "8.4",
	Needs:  []subject.Capability{subject.HostServers, subject.RelayPorts},
	Host:   []catalog.HostFact{catalog.HostUserNS},
	Faults: []string{"list-changed-dropped", "client-notifications-dropped", "progress-token-kept", "vanished-call-not-cancelled"},
	Why:    "A proxy that forwards progress and loses list_changed leaves the agent with tools that are gone.",
}, []kit.Row[func(context.Context, *kit.T)]{
	{Name: "in-a-call", Value: notesInCall},
	{Name: "between-calls", Value: notesBetweenCalls},
	{Name: "from-client", Value: notesFromClient},
	{Name: "stateless-progress", Value: statelessProgress},
	{Name: "stateless-subscription", Value: statelessSubscription},
	{Name: "stateless-cancel", Value: statelessCancel},
}, func(ctx context.Context, t *kit.T, body func(context.Context, *kit.T)) { body(ctx, t) })

func steps(lines []string) []mcp.Step {
	var all []mcp.Step
	for _, line := range lines {
		all = append(all, mcp.Step{Say: line})
	}
	return all
}

// withToken is scripted with a progress token.
func withToken(id, token string, script mcp.Script) string {
	return request(id, mcp.ScriptMethod, `{"_meta":{"progressToken":`+token+`},`+strings.TrimPrefix(params(script), "{"))
}

func notesInCall(ctx context.Context, t *kit.T) {
	_, session := session(ctx, t, loopback)
	quiet := session.Post(ctx, scripted("0", mcp.Script{}))
	t.Control("messages of a call without notifications", len(kit.Messages(quiet)), kit.Be(1))
	answer := session.Post(ctx, withToken("1", `"tok"`, mcp.Script{Steps: steps(notes)}))
	want := strings.Split(strings.ReplaceAll(strings.Join(notes, "\n"), "$TOKEN", `"tok"`), "\n")
	got := kit.Messages(answer)
	t.Attempt("messages of one with them", got[:len(got)-1], kit.Be(want))
}

// notesBetweenCalls answers the call first and goes on after it.
func notesBetweenCalls(ctx context.Context, t *kit.T) {
	agent, session := session(ctx, t, loopback)
	t.Attempt("the stream opens", session.Open(ctx, "stream", "GET", ""), kit.BeStatus(200))
	all := append([]mcp.Step{{Say: `{"jsonrpc":"2.0","id":$ID,"result":{"text":"first"}}`}, {Hear: "go on"}}, steps(notes[1:])...)
	t.Control("the call is answered", result(session.Post(ctx, scripted("1", mcp.Script{Steps: all}))).Text, kit.Be("first"))
	session.Post(ctx, `{"jsonrpc":"2.0","method":"notifications/go on"}`)
	for _, note := range notes[1:] {
		t.Attempt("the stream", agent.Event(ctx, "stream").Text, kit.Be(note))
	}
}

func notesFromClient(ctx context.Context, t *kit.T) {
	agent, session := session(ctx, t, loopback)
	t.Control("a call", result(session.Post(ctx, scripted("0", mcp.Script{Text: "heard"}))).Text, kit.Be("heard"))
	sent := []string{
		`{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":"theirs","progress":1}}`,
		`{"jsonrpc":"2.0","method":"notifications/roots/list_changed"}`,
		`{"jsonrpc":"2.0","method":"notifications/vendor","params":{"a":1}}`,
		`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"long","reason":"r"}}`,
	}
	var hear []mcp.Step
	for _, method := range []string{"progressToken", "roots/list_changed", "notifications/vendor", "notifications/cancelled"} {
		hear = append(hear, mcp.Step{Hear: method})
	}
	session.Begin(ctx, "long", scripted(`"long"`, mcp.Script{Steps: hear}))
	t.Await(ctx, "the server runs the script", func() bool { return count(t.Announced("jira"), "request "+mcp.ScriptMethod) > 1 })
	for _, note := range sent {
		t.Attempt(note, session.Post(ctx, note), kit.BeStatus(202))
	}
	for _, method := range []string{"progress", "roots/list_changed", "vendor", "cancelled"} {
		soon(ctx, t, "the server hears "+method, func() bool { return count(t.Announced("jira"), "notification notifications/"+method) > 0 })
	}
	agent.Close(ctx, "long")
	heard := slices.DeleteFunc(t.Announced("jira"), func(line string) bool { return !strings.HasPrefix(line, "notification ") })
	t.FarSide("notifications at the server, in order", heard[len(heard)-4:], kit.Be([]string{
		"notification notifications/progress", "notification notifications/roots/list_changed",
		"notification notifications/vendor", "notification notifications/cancelled",
	}))
}

// statelessProgress has two calls with the same token in progress.
func statelessProgress(ctx context.Context, t *kit.T) {
	agent := t.Start(ctx, host(t.Server("jira"))).Agent
	endpoint := stateless(agent.Endpoint(ctx, "jira"), mcp.ScriptMethod)
	quiet := endpoint.Post(ctx, modernScripted("0", mcp.Script{Text: "quiet"}))
	t.Control("a call without progress", result(quiet).Text, kit.Be("quiet"))
	folder := t.Dir("both")
	for i, name := range []string{"ann", "bob"} {
		said := fmt.Sprintf(`{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":$TOKEN,"progress":%d}}`, i)
		script := mcp.Script{Steps: []mcp.Step{{Gather: folder, Times: 2}, {Say: said}}, Text: name}
		endpoint.Begin(ctx, name, modernScripted("1", script, `"progressToken":"tok"`))
	}
	for i, name := range []string{"ann", "bob"} {
		answer := agent.Finish(ctx, name)
		want := fmt.Sprintf(`{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":"tok","progress":%d}}`, i)
		t.Attempt("progress of "+name, kit.Messages(answer)[0], kit.Be(want))
		t.Attempt("result of "+name, result(answer).Text, kit.Be(name))
	}
}

func statelessSubscription(ctx context.Context, t *kit.T) {
	agent := t.Start(ctx, host(t.Server("jira"))).Agent
	endpoint := agent.Endpoint(ctx, "jira")
	listen := request(`"sub"`, "subscriptions/listen", withMeta(`{"notifications":{"toolsListChanged":true}}`))
	opened := stateless(endpoint, "subscriptions/listen").Open(ctx, "stream", "POST", listen)
	t.Control("subscriptions/listen", opened, kit.BeStatus(200))
	t.Attempt("it is acknowledged", agent.Event(ctx, "stream").Text, kit.Contain("notifications/subscriptions/acknowledged"))
	agent.Close(ctx, "stream")
	soon(ctx, t, "the server hears that the subscription has ended", func() bool {
		return count(t.Announced("jira"), "notification notifications/cancelled") == 1
	})
	t.FarSide("subscriptions at the server", count(t.Announced("jira"), "request subscriptions/listen"), kit.Be(1))
}

// statelessCancel: in this era the end of the connection is the cancellation.
func statelessCancel(ctx context.Context, t *kit.T) {
	agent := t.Start(ctx, host(t.Server("jira"))).Agent
	endpoint := stateless(agent.Endpoint(ctx, "jira"), mcp.ScriptMethod)
	t.Control("a call", result(endpoint.Post(ctx, modernScripted("0", mcp.Script{Text: "heard"}))).Text, kit.Be("heard"))
	endpoint.Begin(ctx, "long", modernScripted("1", mcp.Script{Steps: []mcp.Step{{Hear: "notifications/cancelled"}}}))
	t.Await(ctx, "the server runs the script", func() bool { return count(t.Announced("jira"), "request "+mcp.ScriptMethod) > 1 })
	t.Control("cancellations so far", count(t.Announced("jira"), "notification notifications/cancelled"), kit.BeNone())
	agent.Close(ctx, "long")
	soon(ctx, t, "the server hears of the cancellation", func() bool {
		return count(t.Announced("jira"), "notification notifications/cancelled") == 1
	})
	t.FarSide("cancellations at the server", count(t.Announced("jira"), "notification notifications/cancelled"), kit.Be(1))
}
