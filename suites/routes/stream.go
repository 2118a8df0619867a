package routes

import (
	"context"
	"fmt"

	"bridgecheck/fakes/llm"
	"bridgecheck/suites/catalog"
	"bridgecheck/suites/kit"
	"bridgecheck/suites/subject"
)

var _ = kit.Table(catalog.Case{
	ID:     "PTH-004",
	Title:  "passes a model's stream event by event while MCP calls run",
	Must:   "A stream of the model MUST pass unbuffered, each event as soon as it is sent, also while MCP calls run on the same port.",
	Level:  catalog.Interoperability,
	Clause: "9.4",
	Needs:  []subject.Capability{subject.PathRoutes, subject.HostServers},
	Host:   []catalog.HostFact{catalog.HostUserNS},
	Faults: []string{"model-stream-buffered"},
	Why:    "An agent calls its tools while the model still speaks.",
}, []kit.Row[func(*kit.T, string) subject.Spec]{
	{Name: "route", Value: func(_ *kit.T, url string) subject.Spec {
		return subject.Spec{Routes: []subject.Route{{Prefix: "/v1", URL: url + "/v1"}}}
	}},
	{Name: "model", Value: func(t *kit.T, url string) subject.Spec {
		t.Require(subject.ModelRoute)
		return subject.Spec{Model: &subject.Model{URL: url}}
	}},
}, func(ctx context.Context, t *kit.T, spec func(*kit.T, string) subject.Spec) {
	step := make(chan struct{}, 100)
	model := t.Model(llm.Script{Step: step})
	s := spec(t, model.URL())
	s.Servers = []subject.Server{t.Server("jira")}
	agent := t.Start(ctx, s).Agent
	t.Control("a call before", call(ctx, agent, "/mcp/jira"), kit.HaveText("by path"))

	step <- struct{}{} // the model speaks the first event, and waits
	opened := at(ctx, agent, "/v1/messages").Open(ctx, "stream", "POST", `{"stream":true,`+ask[1:])
	t.Attempt("the stream begins", opened, kit.BeStatus(200))
	for i, kind := range []string{"message_start", "content_block_start", "content_block_delta"} {
		t.Attempt(fmt.Sprintf("event %d, before the next is sent", i), agent.Event(ctx, "stream").Text, kit.Contain(kind))
		t.Attempt("a call meanwhile", call(ctx, agent, "/mcp/jira"), kit.HaveText("by path"))
		step <- struct{}{}
	}
	t.FarSide("questions at the model", len(model.Requests()), kit.Be(1))
	t.FarSide("sessions at the server", initialized(t, "jira"), kit.Be(4))
})
