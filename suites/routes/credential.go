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

// key is a model key; nothing but the model may see it.
const key = "sk-0123456789-not-for-agents"

var _ = kit.Table(catalog.Case{
	ID:     "PTH-003",
	Title:  "gives the model's credential to the model alone",
	Must:   "Credentials injected for an upstream MUST reach that upstream, and MUST NOT reach an MCP server, nor the agent: not in its environment, files, answers or events.",
	Level:  catalog.Security,
	Clause: "9.3",
	Needs:  []subject.Capability{subject.PathRoutes, subject.HostServers},
	Host:   []catalog.HostFact{catalog.HostUserNS},
	Faults: []string{"credential-to-servers", "credential-in-environment", "agent-credential-kept", "model-credential-missing", "trace-passed-on"},
	Why:    "An agent that holds no key cannot be talked into telling it.",
}, []kit.Row[func(context.Context, *kit.T, string) subject.Spec]{
	{Name: "route", Value: byRoute},
	{Name: "model", Value: byModel},
}, func(ctx context.Context, t *kit.T, spec func(context.Context, *kit.T, string) subject.Spec) {
	model := t.Model(llm.Script{})
	s := spec(ctx, t, model.URL())
	s.Servers = []subject.Server{{Name: "remote", Placement: "host", Kind: "http", URL: t.HTTPServer(ctx, "remote")}, t.Server("jira")}
	phase := t.Start(ctx, s)
	agent := phase.Agent
	asked := at(ctx, agent, "/v1/messages").With("Authorization", "Bearer of the agent").With("X-Api-Key", "of the agent").Post(ctx, ask)
	t.Control("a question to the model", asked, kit.BeStatus(200))
	t.Control("calls of servers beside it", call(ctx, agent, "/mcp/remote"), kit.HaveText("by path"))
	t.Control("and of one on stdio", call(ctx, agent, "/mcp/jira"), kit.HaveText("by path"))
	got := model.Requests()
	if len(got) == 0 {
		t.Fatal("the model was not asked")
	}
	credentials := got[0].Header.Get("Authorization") + " " + got[0].Header.Get("X-Api-Key")
	t.FarSide("the credential reached the model", strings.Contains(credentials, key), kit.Be(true))
	t.FarSide("the agent's own reached it under the same name", strings.Contains(got[0].Header.Get(header), "of the agent"), kit.Be(false))
	t.Control("headers that the server on HTTP had", holding(t.Announced("remote"), "header "), kit.Differ([]string{}))
	t.FarSide("headers with the credential at it", holding(t.Announced("remote"), key), kit.BeNone())

	facts := agent.Facts(ctx)
	t.Attempt("variables of the agent with it", holding(facts.Env, key), kit.BeNone())
	t.Attempt("arguments of the agent with it", holding(facts.Args, key), kit.BeNone())
	t.Attempt("answers with it", holding(values(asked), key), kit.BeNone())
	traced := t.Outside(ctx).EndpointAt(model.URL()+"/v1/messages", "direct").With(header, key).Request(ctx, "TRACE", "")
	t.Control("the model's answer to TRACE outside: the request", strings.Contains(traced.Body, key), kit.Be(true))
	t.Attempt("its answer to TRACE with the credential", holding(values(at(ctx, agent, "/v1/messages").Request(ctx, "TRACE", "")), key), kit.BeNone())
	t.Attempt("events with it", holding(lines(phase), key), kit.BeNone())
})

// header is where the credential goes.
const header = "X-Api-Key"

func byRoute(_ context.Context, _ *kit.T, url string) subject.Spec {
	return subject.Spec{Routes: []subject.Route{{Prefix: "/v1", URL: url + "/v1", Headers: map[string]string{header: key}}}}
}

func byModel(_ context.Context, t *kit.T, url string) subject.Spec {
	t.Require(subject.ModelRoute)
	return subject.Spec{Model: &subject.Model{URL: url, Credential: key}}
}

func values(o attempt.Observation) []string {
	all := []string{o.Body, o.Phrase}
	for _, value := range o.Headers {
		all = append(all, value)
	}
	return all
}

func lines(p *kit.Phase) []string {
	var all []string
	for _, line := range p.EventLines() {
		all = append(all, string(line))
	}
	return all
}
