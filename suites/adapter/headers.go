package adapter

import (
	"context"

	"bridgecheck/suites/catalog"
	"bridgecheck/suites/kit"
	"bridgecheck/suites/subject"
)

// labelled is a stateless request and its headers.
type labelled struct {
	method, params string
	headers        map[string]string
	code           int // of the refusal; 0: it reaches the server
}

const (
	echoCall  = `{"name":"echo","arguments":{"text":"x"}}`
	codeMatch = -32020 // the headers are not those of the body
	codeKnown = -32022 // the version is not supported
)

var _ = kit.Table(catalog.Case{
	ID:     "MCP-019",
	Title:  "compares the headers of a stateless request with its body",
	Must:   "Of a request of 2026-07-28 MCP-Protocol-Version, Mcp-Method, and Mcp-Name where a name or URI exists, MUST be checked against the body: a mismatch MUST be answered 400 with -32020, an unsupported version 400 with -32022.",
	Level:  catalog.Interoperability,
	Clause: "8.19",
	Needs:  []subject.Capability{subject.HostServers, subject.RelayPorts},
	Host:   []catalog.HostFact{catalog.HostUserNS},
	Faults: []string{"headers-unchecked", "names-unchecked", "version-unchecked"},
	Why:    "Whoever routes or limits by header acts on another request than the server when the two differ.",
}, []kit.Row[labelled]{
	{Name: "no-version", Value: labelled{"tools/call", echoCall, map[string]string{"Mcp-Protocol-Version": ""}, codeMatch}},
	{Name: "other-version", Value: labelled{"tools/call", echoCall, map[string]string{"Mcp-Protocol-Version": legacy}, codeMatch}},
	{Name: "unsupported-version", Value: labelled{
		"tools/call",
		`{"name":"echo","arguments":{"text":"x"},"_meta":{"io.modelcontextprotocol/protocolVersion":"2099-01-01","io.modelcontextprotocol/clientCapabilities":{}}}`,
		map[string]string{"Mcp-Protocol-Version": "2099-01-01"},
		codeKnown,
	}},
	{Name: "no-method", Value: labelled{"tools/call", echoCall, map[string]string{"Mcp-Method": ""}, codeMatch}},
	{Name: "other-method", Value: labelled{"tools/call", echoCall, map[string]string{"Mcp-Method": "tools/list"}, codeMatch}},
	{Name: "method-in-capitals", Value: labelled{"tools/call", echoCall, map[string]string{"Mcp-Method": "Tools/Call"}, codeMatch}},
	{Name: "no-name", Value: labelled{"tools/call", echoCall, map[string]string{"Mcp-Name": ""}, codeMatch}},
	{Name: "other-name", Value: labelled{"tools/call", echoCall, map[string]string{"Mcp-Name": "whoami"}, codeMatch}},
	{Name: "other-uri", Value: labelled{"resources/read", `{"uri":"file:///a"}`, map[string]string{"Mcp-Name": "file:///b"}, codeMatch}},
	{Name: "encoded-name", Value: labelled{"tools/call", echoCall, map[string]string{"Mcp-Name": "=?base64?ZWNobw==?="}, 0}},
	{Name: "list-without-name", Value: labelled{"tools/list", "{}", map[string]string{"Mcp-Name": ""}, 0}},
}, func(ctx context.Context, t *kit.T, l labelled) {
	agent := t.Start(ctx, host(t.Server("jira"))).Agent
	right := stateless(agent.Endpoint(ctx, "jira"), "tools/call").With("Mcp-Name", "echo")
	t.Control("a request whose headers are right", right.Post(ctx, request("1", "tools/call", withMeta(echoCall))), kit.BeStatus(200))

	before := count(t.Announced("jira"), "request "+l.method)
	endpoint := stateless(agent.Endpoint(ctx, "jira"), l.method).With("Mcp-Name", "echo")
	for name, value := range l.headers {
		endpoint = endpoint.With(name, value)
	}
	body := request(`"x"`, l.method, l.params)
	if l.code != codeKnown {
		body = request(`"x"`, l.method, withMeta(l.params))
	}
	answer := endpoint.Post(ctx, body)
	reached, status := 0, 400
	if l.code == 0 {
		reached, status = 1, 200
	}
	t.Attempt("the request", answer, kit.BeStatus(status))
	t.Attempt("the code of its error", kit.Last(answer).Error.Code, kit.Be(l.code))
	t.Attempt("its id", string(kit.Last(answer).ID), kit.Be(`"x"`))
	t.FarSide("what reached the server of it", count(t.Announced("jira"), "request "+l.method)-before, kit.Be(reached))
})
