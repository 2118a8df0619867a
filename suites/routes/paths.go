package routes

import (
	"context"
	"strings"

	"bridgecheck/fakes/attempt"
	"bridgecheck/fakes/llm"
	"bridgecheck/suites/catalog"
	"bridgecheck/suites/kit"
	"bridgecheck/suites/subject"
)

// ask is a request to the model API.
const ask = `{"model":"m","max_tokens":10,"messages":[{"role":"user","content":"hello"}]}`

var _ = kit.Table(catalog.Case{
	ID:     "PTH-001",
	Title:  "leads each path of the proxy port to its own server or upstream",
	Must:   "/mcp/NAME on the proxy port MUST reach server NAME, an unknown name MUST be answered 404, and the paths of a route or of the model API MUST reach that upstream.",
	Level:  catalog.Interoperability,
	Clause: "9.1",
	Needs:  []subject.Capability{subject.PathRoutes, subject.HostServers},
	Host:   []catalog.HostFact{catalog.HostUserNS},
	Faults: []string{"routes-lead-to-one-server", "unknown-name-served", "route-loses-path", "model-for-messages-alone"},
	Why:    "Where only one port leads out of a sandbox, model and servers share it.",
}, []kit.Row[func(context.Context, *kit.T)]{
	{Name: "server", Value: toServer},
	{Name: "unknown", Value: unknownName},
	{Name: "route-to-server", Value: routeToServer},
	{Name: "route-to-upstream", Value: routeToUpstream},
	{Name: "model", Value: toModel},
}, func(ctx context.Context, t *kit.T, body func(context.Context, *kit.T)) { body(ctx, t) })

// twoServers is a spec in which the second is the one that is meant.
func twoServers(t *kit.T) subject.Spec {
	return subject.Spec{Servers: []subject.Server{t.Server("wiki"), t.Server("jira")}}
}

// call is one session of an MCP client by a path.
func call(ctx context.Context, a *kit.Agent, path string) attempt.Observation {
	return a.Do(ctx, attempt.Attempt{
		Op: attempt.OpMCP, URL: "http://" + a.Proxy(ctx) + path, Era: legacy, Via: "direct", Tool: "echo", Arguments: map[string]any{"text": "by path"},
	})
}

func toServer(ctx context.Context, t *kit.T) {
	agent := t.Start(ctx, twoServers(t)).Agent
	t.Control("a call to the first server", call(ctx, agent, "/mcp/wiki"), kit.HaveText("by path"))
	before := initialized(t, "wiki")
	t.Attempt("a call to the second", call(ctx, agent, "/mcp/jira"), kit.HaveText("by path"))
	t.FarSide("sessions that the second was asked for", initialized(t, "jira"), kit.Be(1))
	t.FarSide("sessions that the first was asked for by then", initialized(t, "wiki")-before, kit.BeNone())
}

func unknownName(ctx context.Context, t *kit.T) {
	agent := t.Start(ctx, twoServers(t)).Agent
	t.Control("a name that is known", at(ctx, agent, "/mcp/jira").Post(ctx, kit.Initialize(legacy, "{}")), kit.BeStatus(200))
	before := initialized(t, "jira") + initialized(t, "wiki")
	for _, path := range []string{"/mcp/nobody", "/mcp", "/", "/jira"} {
		t.Attempt("POST "+path, at(ctx, agent, path).Post(ctx, kit.Initialize(legacy, "{}")), kit.BeStatus(404))
	}
	t.FarSide("what reached a server of it", initialized(t, "jira")+initialized(t, "wiki")-before, kit.BeNone())
}

func routeToServer(ctx context.Context, t *kit.T) {
	spec := twoServers(t)
	spec.Routes = []subject.Route{{Prefix: "/tickets", Server: "jira"}}
	agent := t.Start(ctx, spec).Agent
	t.Control("the server by its own path", call(ctx, agent, "/mcp/jira"), kit.HaveText("by path"))
	t.Attempt("the server by the route", call(ctx, agent, "/tickets"), kit.HaveText("by path"))
	t.FarSide("sessions that it was asked for", initialized(t, "jira"), kit.Be(2))
	t.FarSide("sessions that the other was asked for", initialized(t, "wiki"), kit.BeNone())
}

func routeToUpstream(ctx context.Context, t *kit.T) {
	model := t.Model(llm.Script{})
	spec := twoServers(t)
	spec.Routes = []subject.Route{{Prefix: "/model", URL: model.URL()}}
	agent := t.Start(ctx, spec).Agent
	t.Control("a server beside it", call(ctx, agent, "/mcp/jira"), kit.HaveText("by path"))
	for _, path := range []string{"/v1/messages", "/v1/messages/count_tokens"} {
		t.Attempt("POST /model"+path, at(ctx, agent, "/model"+path).Post(ctx, ask), kit.BeStatus(200))
	}
	got := model.Requests()
	t.FarSide("requests at the model", len(got), kit.Be(2))
	t.FarSide("the path of the second", strings.HasSuffix(got[1].Path, "/v1/messages/count_tokens"), kit.Be(true))
	t.FarSide("its body", string(got[1].Body), kit.Be(ask))
}

func toModel(ctx context.Context, t *kit.T) {
	t.Require(subject.ModelRoute)
	model := t.Model(llm.Script{})
	spec := twoServers(t)
	spec.Model = &subject.Model{URL: model.URL()}
	agent := t.Start(ctx, spec).Agent
	t.Control("a server beside it", call(ctx, agent, "/mcp/jira"), kit.HaveText("by path"))
	for _, path := range []string{"/v1/messages", "/v1/messages/count_tokens"} {
		t.Attempt("POST "+path, at(ctx, agent, path).Post(ctx, ask), kit.BeStatus(200))
	}
	got := model.Requests()
	t.FarSide("requests at the model", len(got), kit.Be(2))
	t.FarSide("the path of the second", got[1].Path, kit.Be("/v1/messages/count_tokens"))
}
