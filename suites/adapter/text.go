package adapter

import (
	"context"
	"fmt"
	"strings"

	"bridgecheck/fakes/mcp"
	"bridgecheck/suites/catalog"
	"bridgecheck/suites/kit"
	"bridgecheck/suites/subject"
)

// text has characters of two, three and four bytes, line separators that are
// no line ends, and what JSON must escape.
const text = "é€𝄞\u2028\u2029\u0085 \"\\/\n\r\t\x7f"

var _ = kit.Table(catalog.Case{
	ID:     "MCP-013",
	Title:  "takes messages in every spelling that the specification allows",
	Must:   "Characters split over writes, lines ended by CRLF, JSON over several lines in a POST, and batches (2025-03-26) MUST be handled as the specification says; later revisions have no batches.",
	Level:  catalog.Interoperability,
	Clause: "8.13",
	Needs:  []subject.Capability{subject.HostServers, subject.RelayPorts},
	Host:   []catalog.HostFact{catalog.HostUserNS},
	Faults: []string{"line-breaks-kept", "batch-refused", "batch-always"},
	Why:    "A line is what a newline ends, whatever the writes were; a newline inside a message would make two of it.",
}, []kit.Row[func(context.Context, *kit.T)]{
	{Name: "split-characters", Value: spelt("--chunk", "3")},
	{Name: "crlf", Value: spelt("--crlf")},
	{Name: "pretty-request", Value: prettyRequest},
	{Name: "batch-of-client", Value: batchOfClient},
	{Name: "batch-of-server", Value: batchOfServer},
	{Name: "batch-later", Value: batchLater},
}, func(ctx context.Context, t *kit.T, body func(context.Context, *kit.T)) { body(ctx, t) })

func spelt(flags ...string) func(context.Context, *kit.T) {
	return func(ctx context.Context, t *kit.T) {
		agent := t.Start(ctx, host(t.Server("plain"), t.Server("jira", flags...))).Agent
		said := func(server string) string {
			session := agent.Endpoint(ctx, server).Session(ctx, legacy, "{}")
			return result(session.Post(ctx, scripted("1", mcp.Script{Text: text}))).Text
		}
		t.Control("a server that writes whole lines", said("plain"), kit.Be(text))
		t.Attempt("one that writes in another way", said("jira"), kit.Be(text))
	}
}

func prettyRequest(ctx context.Context, t *kit.T) {
	_, session := session(ctx, t, loopback)
	one := scripted("1", mcp.Script{Text: text})
	t.Control("a request on one line", result(session.Post(ctx, one)).Text, kit.Be(text))
	pretty := strings.NewReplacer("{", "{\r\n  ", ",", ",\n  ", "}", "\n}").Replace(scripted("2", mcp.Script{Text: "pretty"})) + "\r\n"
	t.Attempt("a request over several lines", result(session.Promptly(ctx, pretty)).Text, kit.Be("pretty"))
	t.FarSide("requests that the server had", count(t.Announced("jira"), "request "+mcp.ScriptMethod), kit.Be(2))
}

// batch is two requests in one body.
func batch() string {
	return "[" + scripted("1", mcp.Script{Text: "one"}) + "," + scripted(`"2"`, mcp.Script{Text: "two"}) + "]"
}

// inBatch are the texts by id in an answer to a batch: a stream of messages, or
// an array of them.
func inBatch(messages []string) map[string]string {
	texts := map[string]string{}
	for _, m := range messages {
		for _, one := range elements(m) {
			texts[string(one.ID)] = scriptResult(one.Result).Text
		}
	}
	return texts
}

func batchOfClient(ctx context.Context, t *kit.T) {
	agent := t.Start(ctx, host(t.Server("jira"))).Agent
	session := agent.Endpoint(ctx, "jira").Session(ctx, "2025-03-26", "{}")
	t.Control("one request", result(session.Post(ctx, scripted("0", mcp.Script{Text: "zero"}))).Text, kit.Be("zero"))
	answer := session.Promptly(ctx, batch())
	t.Attempt("the answers to a batch", inBatch(kit.Messages(answer)), kit.Be(map[string]string{"1": "one", `"2"`: "two"}))
	t.FarSide("requests that the server had", count(t.Announced("jira"), "request "+mcp.ScriptMethod), kit.Be(3))
}

func batchOfServer(ctx context.Context, t *kit.T) {
	agent := t.Start(ctx, host(t.Server("jira"))).Agent
	session := agent.Endpoint(ctx, "jira").Session(ctx, "2025-03-26", "{}")
	t.Control("one request", result(session.Post(ctx, scripted("0", mcp.Script{Text: "zero"}))).Text, kit.Be("zero"))
	note := `{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":"n"}}`
	said := fmt.Sprintf(`[%s,{"jsonrpc":"2.0","id":$ID,"result":{"text":"in a batch"}}]`, note)
	answer := session.Promptly(ctx, scripted("1", mcp.Script{Steps: []mcp.Step{{Say: said}, {Hear: "never"}}}))
	t.Attempt("an answer that the server puts into a batch", inBatch(kit.Messages(answer))["1"], kit.Be("in a batch"))
}

func batchLater(ctx context.Context, t *kit.T) {
	_, session := session(ctx, t, loopback)
	t.Control("one request", result(session.Post(ctx, scripted("0", mcp.Script{Text: "zero"}))).Text, kit.Be("zero"))
	t.Attempt("a batch in a session of "+legacy, session.Promptly(ctx, batch()), kit.BeStatus(400))
	t.FarSide("requests that the server had", count(t.Announced("jira"), "request "+mcp.ScriptMethod), kit.Be(1))
}
