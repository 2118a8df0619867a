package adapter

import (
	"bytes"
	"context"
	"encoding/json"
	"strings"

	"bridgecheck/fakes/mcp"
	"bridgecheck/suites/catalog"
	"bridgecheck/suites/kit"
	"bridgecheck/suites/subject"
)

// delicate is an object that a relay which decodes and encodes again changes:
// the order of keys, numbers that no double holds or that are written in
// another way, escapes, members nobody knows.
const delicate = `{"zeta":9007199254740993,"alpha":[1.0,-0,1e2,12345678901234567890.5],"text":"\u00e9\/é\ud834\udd1e <&>","é":null,"empty":{}}`

var _ = kit.Table(catalog.Case{
	ID:     "MCP-018",
	Title:  "relays messages token for token",
	Must:   "Messages MUST be relayed token for token: numbers above 2^53, key order, unknown fields and methods, _meta; only white space, and ids and progress tokens on a shared process, may change.",
	Level:  catalog.Interoperability,
	Clause: "8.18",
	Needs:  []subject.Capability{subject.HostServers, subject.RelayPorts},
	Host:   []catalog.HostFact{catalog.HostUserNS},
	Faults: []string{"messages-reencoded", "answers-reencoded"},
	Why:    "Gateways built on SDK objects lose what their SDK does not know, and large numbers.",
}, []kit.Row[func(context.Context, *kit.T, *kit.Agent)]{
	{Name: "request", Value: requestExact},
	{Name: "stateless-request", Value: statelessExact},
	{Name: "notification", Value: notificationExact},
	{Name: "server-notification", Value: serverNotificationExact},
	{Name: "server-request", Value: serverRequestExact},
}, func(ctx context.Context, t *kit.T, body func(context.Context, *kit.T, *kit.Agent)) {
	decoded, _ := json.Marshal(json.RawMessage(delicate))
	var anything any
	if err := json.Unmarshal([]byte(delicate), &anything); err != nil {
		t.Fatal("%v", err)
	}
	encoded, _ := json.Marshal(anything)
	t.Control("what a relay that decodes would make of it", string(encoded), kit.Differ(string(decoded)))
	body(ctx, t, t.Start(ctx, host(t.Server("jira"))).Agent)
})

// raw is the answer to the fake's own method for this.
type raw struct {
	Line  string          `json:"line"`
	Exact json.RawMessage `json:"exact"`
}

func requestExact(ctx context.Context, t *kit.T, agent *kit.Agent) {
	session := agent.Endpoint(ctx, "jira").Session(ctx, legacy, "{}")
	sent := `{"method":"` + mcp.RawMethod + `","params":{"n":` + delicate + `,"_meta":{"vendor/x":` + delicate + `}},"extra":1.0,"id":"k","jsonrpc":"2.0"}`
	answer := kit.Last(session.Post(ctx, sent))
	var r raw
	_ = json.Unmarshal(answer.Result, &r) // what is no result is empty
	t.FarSide("the request at the server", like(sent, r.Line), kit.Be(sent))
	t.Attempt("what the server made exact", string(r.Exact), kit.Be(mcp.Exact))
	t.Attempt("the id of the answer", string(answer.ID), kit.Be(`"k"`))
}

func statelessExact(ctx context.Context, t *kit.T, agent *kit.Agent) {
	sent := request(`"k"`, mcp.RawMethod, withMeta(`{"n":`+delicate+`}`, `"vendor/x":`+delicate))
	answer := kit.Last(stateless(agent.Endpoint(ctx, "jira"), mcp.RawMethod).Post(ctx, sent))
	var r raw
	_ = json.Unmarshal(answer.Result, &r) // what is no result is empty
	t.FarSide("the request at the server", like(sent, r.Line), kit.Be(sent))
	t.Attempt("what the server made exact", string(r.Exact), kit.Be(mcp.Exact))
	t.Attempt("the id of the answer", string(answer.ID), kit.Be(`"k"`))
}

func notificationExact(ctx context.Context, t *kit.T, agent *kit.Agent) {
	session := agent.Endpoint(ctx, "jira").Session(ctx, legacy, "{}")
	sent := `{"method":"notifications/vendor","params":` + delicate + `,"jsonrpc":"2.0"}`
	session.Begin(ctx, "script", scripted("1", mcp.Script{Steps: []mcp.Step{{Hear: "notifications/vendor"}}}))
	t.Await(ctx, "the server runs the script", func() bool { return count(t.Announced("jira"), "request "+mcp.ScriptMethod) > 0 })
	t.Attempt("the notification", session.Post(ctx, sent), kit.BeStatus(202))
	t.FarSide("what the server heard", like(sent, only(result(agent.Finish(ctx, "script")).Heard)), kit.Be(sent))
}

func serverNotificationExact(ctx context.Context, t *kit.T, agent *kit.Agent) {
	session := agent.Endpoint(ctx, "jira").Session(ctx, legacy, "{}")
	said := `{"method":"notifications/vendor","params":` + delicate + `,"extra":` + delicate + `,"jsonrpc":"2.0"}`
	answer := session.Post(ctx, scripted("1", mcp.Script{Steps: []mcp.Step{{Say: said}}}))
	t.Attempt("the first message of the stream", kit.Messages(answer)[0], kit.Be(said))
}

func serverRequestExact(ctx context.Context, t *kit.T, agent *kit.Agent) {
	session := agent.Endpoint(ctx, "jira").Session(ctx, legacy, "{}")
	said := `{"method":"vendor/ask","params":` + delicate + `,"id":9007199254740993,"jsonrpc":"2.0"}`
	asking := scripted("1", mcp.Script{Steps: []mcp.Step{{Say: said}, {Hear: "vendor-answer"}}})
	t.Attempt("the answer begins", session.Open(ctx, "script", "POST", asking), kit.BeStatus(200))
	asked := agent.Event(ctx, "script").Text
	t.Attempt("the request at the client", like(said, asked), kit.Be(said))
	answer := `{"result":{"vendor-answer":` + delicate + `},"id":` + idOf(asked) + `,"jsonrpc":"2.0"}`
	t.Attempt("the answer is taken", session.Post(ctx, answer), kit.BeStatus(202))
	back := only(eventResult(agent.Event(ctx, "script")).Heard)
	t.FarSide("the answer at the server", like(answer, back), kit.Be(answer))
	t.FarSide("its id", idOf(back), kit.Be("9007199254740993"))
}

func only(lines []string) string {
	if len(lines) != 1 {
		return ""
	}
	return lines[0]
}

func idOf(message string) string {
	var m kit.Message
	_ = json.Unmarshal([]byte(message), &m) // what is no message has none
	return string(m.ID)
}

// like is what came, as it would be with the id of what was sent and without
// white space: those may change.
func like(sent, came string) string {
	if mine, theirs := idOf(sent), idOf(came); mine != "" && theirs != "" {
		came = strings.Replace(came, `"id":`+theirs, `"id":`+mine, 1)
	}
	var b bytes.Buffer
	if json.Compact(&b, []byte(came)) != nil {
		return came
	}
	return b.String()
}
