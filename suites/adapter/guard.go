package adapter

import (
	"context"
	"strings"

	"bridgecheck/suites/catalog"
	"bridgecheck/suites/kit"
	"bridgecheck/suites/subject"
)

var _ = kit.Table(catalog.Case{
	ID:     "MCP-012",
	Title:  "lets only its own client in",
	Must:   "On a door that others on the host could reach a request without the bearer token MUST be answered 401; on every door an Origin or a Host that is not the server's MUST be answered 403; neither MUST reach the server. The token MUST NOT stand in an event, a log or an argument.",
	Level:  catalog.Security,
	Clause: "8.12",
	Needs:  []subject.Capability{subject.HostServers},
	Host:   []catalog.HostFact{catalog.HostUserNS},
	Faults: []string{"door-without-token", "any-token", "token-in-events", "foreign-host-served", "foreign-origin-served"},
	Why:    "A page in a browser reaches loopback ports by DNS rebinding, and every user of the host does.",
}, []kit.Row[func(context.Context, *kit.T)]{
	{Name: "token-missing", Value: token("")},
	{Name: "token-wrong", Value: token("Bearer 0123456789")},
	{Name: "token-as-basic", Value: token("Basic MDEyMzQ1Njc4OQ==")},
	{Name: "token-untold", Value: untold},
	{Name: "host-loopback", Value: foreign(loopback, "Host")},
	{Name: "host-connect", Value: foreign(connect, "Host")},
	{Name: "host-path", Value: foreign(path, "Host")},
	{Name: "host-unix", Value: foreign(socket, "Host")},
	{Name: "origin-loopback", Value: foreign(loopback, "Origin")},
	{Name: "origin-absolute", Value: foreign(absolute, "Origin")},
	{Name: "origin-connect", Value: foreign(connect, "Origin")},
	{Name: "origin-path", Value: foreign(path, "Origin")},
	{Name: "origin-unix", Value: foreign(socket, "Origin")},
}, func(ctx context.Context, t *kit.T, body func(context.Context, *kit.T)) { body(ctx, t) })

// token tries the door of a shared network from outside, as another program of
// the host would.
func token(authorization string) func(context.Context, *kit.T) {
	return func(ctx context.Context, t *kit.T) {
		t.Require(subject.Fallback)
		spec := host(t.Server("jira"))
		spec.Network = "shared"
		phase := t.Start(ctx, spec)
		mine := phase.Agent.Endpoint(ctx, "jira")
		t.Control("the agent with its token", mine.Post(ctx, kit.Initialize(legacy, "{}")), kit.BeStatus(200))

		before := count(t.Announced("jira"), "request initialize")
		url := phase.Agent.Env(ctx, kit.ServerVariable("jira", "URL"))
		stranger := t.Outside(ctx).EndpointAt(url, "direct").With("Authorization", authorization)
		t.Attempt("another program of the host", stranger.Post(ctx, kit.Initialize(legacy, "{}")), kit.BeStatus(401))
		t.FarSide("what reached the server of it", count(t.Announced("jira"), "request initialize")-before, kit.BeNone())
	}
}

// untold looks for the token wherever others on the host could read it.
func untold(ctx context.Context, t *kit.T) {
	t.Require(subject.Fallback)
	spec := host(t.Server("jira"))
	spec.Network = "shared"
	phase := t.Start(ctx, spec)
	secret := phase.Agent.Env(ctx, kit.ServerVariable("jira", "TOKEN"))
	t.Control("the agent has a token", len(secret) >= 16, kit.Be(true))
	mine := phase.Agent.Endpoint(ctx, "jira")
	t.Control("and is let in with it", mine.Post(ctx, kit.Initialize(legacy, "{}")), kit.BeStatus(200))
	astray := mine.With("Authorization", "Basic "+secret).Post(ctx, kit.Initialize(legacy, "{}"))
	t.Control("and not where it stands in the wrong place", astray, kit.BeStatus(401))
	t.FarSide("processes with it among their arguments", with(secret, t.Strays()), kit.BeNone())
	phase.Finish(ctx)
	events := []string{}
	for _, line := range phase.EventLines() {
		events = append(events, string(line))
	}
	t.Control("there are events to look at", len(events), kit.Differ(0))
	t.FarSide("events with it", with(secret, events), kit.BeNone())
	t.FarSide("lines of the log with it", with(secret, strings.Split(phase.Stderr(), "\n")), kit.BeNone())
}

func with(part string, lines []string) []string {
	found := []string{}
	for _, line := range lines {
		if strings.Contains(line, part) {
			found = append(found, line)
		}
	}
	return found
}

// foreign are values of Host and Origin that a rebinding page sends, and some
// that resemble the server's own.
func foreign(d door, header string) func(context.Context, *kit.T) {
	return func(ctx context.Context, t *kit.T) {
		d.require(t)
		spec := host(t.Server("jira"), t.Server("wiki"))
		spec.Agent = &subject.Agent{Transports: []string{d.transport}}
		phase := t.Start(ctx, spec)
		endpoint := d.endpoint(ctx, phase)
		t.Control("the agent as it is", endpoint.Post(ctx, kit.Initialize(legacy, "{}")), kit.BeStatus(200))

		before := count(t.Announced("jira"), "request initialize")
		for _, value := range []string{"evil.example", "127.0.0.1.evil.example", "localhost.evil.example", "evil.jira.mcp.internal", "198.51.100.7"} {
			if header == "Origin" {
				value = "http://" + value
			}
			rebound := endpoint.With(header, value).Post(ctx, kit.Initialize(legacy, "{}"))
			t.Attempt(header+" "+value, rebound, kit.BeStatus(403))
		}
		if header == "Origin" {
			t.Attempt("Origin null", endpoint.With(header, "null").Post(ctx, kit.Initialize(legacy, "{}")), kit.BeStatus(403))
		}
		t.FarSide("what reached the server of it", count(t.Announced("jira"), "request initialize")-before, kit.BeNone())
	}
}
