package allowlist

import (
	"context"
	"fmt"
	"net"

	"bridgecheck/fakes/dns"
	"bridgecheck/fakes/mcp"
	"bridgecheck/fakes/upstream"
	"bridgecheck/suites/catalog"
	"bridgecheck/suites/kit"
	"bridgecheck/suites/subject"
)

var _ = kit.Table(catalog.Case{
	ID:     "ALW-015",
	Title:  "reaches servers on the host by name and by no rule for loopback",
	Must:   "Declared MCP servers MUST be reached by their virtual name although they live on the host's loopback or a Unix socket; a rule for a loopback address MUST NOT be needed, nor possible by accident.",
	Level:  catalog.Security,
	Clause: "5.15",
	Needs:  []subject.Capability{subject.Connect, subject.VirtualNames, subject.HostServers},
	Faults: []string{"virtual-names-dialled", "loopback-rule-opens-host"},
	Why:    "A rule for 127.0.0.1 that makes one server work opens every service of the host.",
}, []kit.Row[func(context.Context, *kit.T)]{
	{Name: "stdio", Value: func(ctx context.Context, t *kit.T) { named(ctx, t, t.Server("tracker", "--nonce", "on-the-host")) }},
	{Name: "http", Value: func(ctx context.Context, t *kit.T) {
		at := t.ServeMCP("tcp", "127.0.0.1:0", mcp.Options{Nonce: "on-the-host", Era: mcp.EraBoth})
		named(ctx, t, subject.Server{Name: "tracker", Kind: "http", Placement: "host", URL: "http://" + at.String() + "/mcp"})
	}},
	{Name: "unix", Value: func(ctx context.Context, t *kit.T) {
		at := t.ServeMCP("unix", t.Dir("server")+"/s", mcp.Options{Nonce: "on-the-host", Era: mcp.EraBoth, AnyHost: true})
		named(ctx, t, subject.Server{Name: "tracker", Kind: "unix", Placement: "host", URL: "unix:" + at.String()})
	}},
	{Name: "rule-literal", Value: loopbackRule("127.0.0.1", "127.0.0.1")},
	{Name: "rule-localhost", Value: loopbackRule("localhost", "127.0.0.1")},
	{Name: "rule-v6", Value: loopbackRule("::1", "::1")},
}, func(ctx context.Context, t *kit.T, run func(context.Context, *kit.T)) { run(ctx, t) })

// named reaches the server by its name, without any rule.
func named(ctx context.Context, t *kit.T, server subject.Server) {
	phase := t.Start(ctx, subject.Spec{Servers: []subject.Server{server}})
	t.Control("CONNECT to a name that no server has", phase.Agent.Connect(ctx, "nobody.mcp.internal:80"), kit.BeStatus(403))
	for _, via := range []string{"connect", "proxy"} {
		if via == "proxy" && !t.Subject().Claims(subject.AbsoluteForm) {
			continue
		}
		answer := whoAmI(ctx, phase, way{"tracker.mcp.internal", via})
		t.Attempt("MCP session by name, via "+via, answer, kit.Succeed())
		t.Attempt("which server answered", answer.Text, kit.Contain(`"nonce":"on-the-host"`))
	}
	t.FarSide("DNS queries for the name", t.Queries("tracker.mcp.internal"), kit.BeNone())
}

// loopbackRule writes a plain rule for the host's loopback: it is rejected when
// it is loaded, or opens nothing.
func loopbackRule(host, address string) func(context.Context, *kit.T) {
	return func(ctx context.Context, t *kit.T) {
		if address == "::1" {
			t.RequireHost(catalog.HostIPv6)
		}
		service := t.UpstreamAt(upstream.HTTP, address)
		t.Control("the service answers outside", t.Outside(ctx).Get(ctx, "http://"+service.Addr().String()+"/", "direct"), kit.BeStatus(200))
		t.Name("localhost", dns.Addresses("127.0.0.1")) // for a subject that asks for it
		before := service.Heard()
		phase := t.Start(ctx, subject.Spec{Allow: []subject.Rule{{Host: host, Port: service.Port()}}})
		fate := phase.Fate(ctx)
		t.Attempt("the start", fate, kit.BeOneOf("exit code 125", "the agent runs"))
		if fate == "the agent runs" {
			for _, f := range forms(t) {
				answer := f.ask(ctx, phase.Agent, net.JoinHostPort(host, fmt.Sprint(service.Port())))
				t.Attempt(f.name+" to the service", answer, kit.BeStatus(403, 502))
			}
		}
		t.FarSide("connections at the service by the subject", service.Heard()-before, kit.BeNone())
	}
}
