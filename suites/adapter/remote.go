package adapter

import (
	"context"
	"strings"

	"bridgecheck/suites/catalog"
	"bridgecheck/suites/kit"
	"bridgecheck/suites/subject"
)

var _ = kit.Table(catalog.Case{
	ID:     "MCP-016",
	Title:  "serves a server that speaks HTTP itself, under the Host that it knows",
	Must:   "A server that speaks HTTP on the host's loopback and refuses foreign Host values MUST work behind the bridge, by every door; the bridge MUST check Host and Origin itself before it rewrites them.",
	Level:  catalog.Interoperability,
	Clause: "8.16",
	Needs:  []subject.Capability{subject.HostServers},
	Host:   []catalog.HostFact{catalog.HostUserNS},
	Faults: []string{"host-passed-through", "remote-unguarded", "localhost-not-dialled"},
	Why:    "SDK servers on loopback answer 403 to any other Host. To rewrite it for everybody would undo that protection.",
}, []kit.Row[func(context.Context, *kit.T)]{
	{Name: "absolute-legacy", Value: remote(absolute, legacy)},
	{Name: "connect-modern", Value: remote(connect, modern)},
	{Name: "path-legacy", Value: remote(path, legacy)},
	{Name: "loopback-modern", Value: remote(loopback, modern)},
	{Name: "localhost", Value: remoteLocalhost},
	{Name: "foreign-host", Value: remoteForeign("Host", "evil.example")},
	{Name: "foreign-origin", Value: remoteForeign("Origin", "http://evil.example")},
}, func(ctx context.Context, t *kit.T, body func(context.Context, *kit.T)) { body(ctx, t) })

// listening is the spec of a server that is there already.
func listening(ctx context.Context, t *kit.T) subject.Spec {
	url := t.HTTPServer(ctx, "jira")
	outside := t.Outside(ctx).EndpointAt(url, "direct")
	t.Control("the server under its own Host", outside.Post(ctx, kit.Initialize(legacy, "{}")), kit.BeStatus(200))
	refused := outside.With("Host", "jira.mcp.internal").Post(ctx, kit.Initialize(legacy, "{}"))
	t.Control("the server under a foreign one", refused, kit.BeStatus(403))
	return host(subject.Server{Name: "jira", Placement: "host", Kind: "http", URL: url})
}

func remote(d door, era string) func(context.Context, *kit.T) {
	return func(ctx context.Context, t *kit.T) {
		d.require(t)
		phase := t.Start(ctx, listening(ctx, t))
		got := d.call(ctx, phase, "jira", era, "ask", map[string]any{"what": "nothing"})
		t.Attempt("a call through the bridge is answered by the tool", got.Text, kit.Contain("ask for"))
		got = d.call(ctx, phase, "jira", era, "echo", map[string]any{"text": "héllo"})
		t.Attempt("another", got, kit.HaveText("héllo"))
		t.Attempt("the version", got.Headers["Mcp-Protocol-Version"], kit.Be(era))
	}
}

// remoteLocalhost names the server as people write it down.
func remoteLocalhost(ctx context.Context, t *kit.T) {
	t.Require(subject.RelayPorts)
	spec := listening(ctx, t)
	spec.Servers[0].URL = strings.Replace(spec.Servers[0].URL, "127.0.0.1", "localhost", 1)
	phase := t.Start(ctx, spec)
	got := loopback.call(ctx, phase, "jira", legacy, "echo", map[string]any{"text": "localhost"})
	t.Attempt("a call is answered by the tool", got, kit.HaveText("localhost"))
	t.FarSide("the server has heard it", posts(t) > 0, kit.Be(true))
}

func remoteForeign(header, value string) func(context.Context, *kit.T) {
	return func(ctx context.Context, t *kit.T) {
		t.Require(subject.RelayPorts)
		phase := t.Start(ctx, listening(ctx, t))
		endpoint := loopback.endpoint(ctx, phase)
		t.Control("the agent as it is", endpoint.Post(ctx, kit.Initialize(legacy, "{}")), kit.BeStatus(200))
		before := posts(t)
		t.Attempt(header+" "+value, endpoint.With(header, value).Post(ctx, kit.Initialize(legacy, "{}")), kit.BeStatus(403))
		t.FarSide("what reached the server of it", posts(t)-before, kit.BeNone())
	}
}

// posts are the requests that the server has had.
func posts(t *kit.T) int {
	n := 0
	for _, line := range t.Announced("jira") {
		if strings.HasPrefix(line, "request POST ") {
			n++
		}
	}
	return n
}
