package fallback

import (
	"context"
	"os"
	"strings"

	"bridgecheck/suites/catalog"
	"bridgecheck/suites/kit"
	"bridgecheck/suites/subject"
)

var _ = kit.Table(catalog.Case{
	ID:     "FBK-009",
	Title:  "never leaves the agent isolated with a proxy that is not there",
	Must:   "Without the CONNECT proxy the fallback MUST go by policy; an agent MUST NOT run with an isolated network and a dead proxy address.",
	Level:  catalog.Security,
	Clause: "7.9",
	Needs:  []subject.Capability{subject.NetNS, subject.Fallback, subject.Events},
	Host:   []catalog.HostFact{catalog.HostUserNS},
	Faults: []string{"proxyless-isolated"},
	Why:    "The agent then fails at its model, an hour into somebody's search for the reason.",
}, []kit.Row[string]{
	{Name: "require", Value: "require"},
	{Name: "prefer", Value: "prefer"},
}, func(ctx context.Context, t *kit.T, policy string) {
	host := t.HTTP()
	spec := subject.Spec{Policy: policy, Allow: []subject.Rule{host.Rule()}}
	if t.Subject().Claims(subject.Connect) {
		spec.Proxy = &subject.Proxy{Mode: "off"}
	}
	t.Control("without allowed hosts the agent runs", t.Start(ctx, subject.Spec{Policy: policy}).Fate(ctx), kit.Be("the agent runs"))

	phase := t.Start(ctx, spec)
	if policy == "require" {
		t.Attempt("the start", phase.Fate(ctx), kit.Be("exit code 125"))
		t.Attempt("what is told of it", said(phase), kit.Contain("proxy"))
		return
	}
	told := decided(ctx, t, phase, shared, userns)
	t.Attempt("the reason", told.Reason, kit.Contain("proxy"))
	for _, name := range []string{"HTTP_PROXY", "HTTPS_PROXY", "http_proxy", "https_proxy"} {
		t.Attempt("the agent's "+name, phase.Agent.Env(ctx, name), kit.Be(""))
	}
	t.Attempt("the host, as the environment says", phase.Agent.Get(ctx, host.URL(), "environment"), kit.BeStatus(200))
	t.FarSide("connections at the host", host.Heard(), kit.Be(1))
})

// weakened is a spec that can only be honoured by giving less than it asks for.
type weakened struct {
	spec func(t *kit.T) subject.Spec
	// like asks by the same field for what can be honoured; it may be nil.
	like  func(t *kit.T) subject.Spec
	field string // that like needs
	knob  string // what makes it one, where the spec alone does not
	names string // what the refusal must name
}

var _ = kit.Table(catalog.Case{
	ID:     "FBK-010",
	Title:  "refuses what it cannot honour instead of giving less",
	Must:   "A phase MUST never be weaker than asked: a spec that the subject cannot honour MUST be refused, not narrowed.",
	Level:  catalog.Security,
	Clause: "7.10",
	Needs:  []subject.Capability{subject.NetNS, subject.Events},
	Host:   []catalog.HostFact{catalog.HostUserNS},
	Faults: []string{"isolation-given-up", "containment-weakened", "relay-dropped-in-silence", "policy-off-wins", "host-server-hosts-ignored", "read-only-overridden", "missing-path-skipped"},
	Why:    "Who writes isolated means it; a warning in a log that nobody reads is not a refusal.",
}, []kit.Row[weakened]{
	{Name: "isolated-with-open-server", Value: weakened{names: "unbounded", spec: func(t *kit.T) subject.Spec {
		t.Require(subject.SandboxServers)
		return subject.Spec{Network: "isolated", Servers: []subject.Server{inSandbox("unbounded")}}
	}}},
	{Name: "relay-in-shared-network", Value: weakened{names: "relay", like: network("shared"), field: "network", spec: func(t *kit.T) subject.Spec {
		t.Require(subject.ForeignRelay)
		return subject.Spec{Network: "shared", Relays: []subject.Relay{{Port: 19000, UnixSocket: "/nowhere/far"}}}
	}}},
	{Name: "descriptor-not-open", Value: weakened{names: "9", spec: func(t *kit.T) subject.Spec {
		t.Require(subject.FDClean)
		return subject.Spec{Descriptors: []int{9}}
	}}},
	{Name: "path-missing", Value: weakened{names: "/nowhere/declared", like: writable, field: "paths", spec: func(*kit.T) subject.Spec {
		return subject.Spec{Paths: &subject.Paths{RW: []string{"/nowhere/declared"}}}
	}}},
	{Name: "isolated-without-isolation", Value: weakened{names: "policy", like: network("isolated"), field: "network", spec: func(*kit.T) subject.Spec {
		return subject.Spec{Network: "isolated", Policy: "off"}
	}}},
	{Name: "host-server-with-hosts", Value: weakened{names: "narrowed", spec: func(t *kit.T) subject.Spec {
		t.Require(subject.HostServers)
		server := t.Server("narrowed")
		server.AllowedHosts = []subject.Rule{rule("a.example.test")}
		return subject.Spec{Servers: []subject.Server{server}}
	}}},
	{Name: "path-ro-and-rw", Value: weakened{names: "twice", like: writable, field: "paths", spec: func(t *kit.T) subject.Spec {
		both := []string{t.Dir("twice")}
		return subject.Spec{Paths: &subject.Paths{RO: both, RW: both}}
	}}},
	{Name: "path-ro-and-rw-by-link", Value: weakened{names: "twice", like: writable, field: "paths", spec: func(t *kit.T) subject.Spec {
		dir := t.Dir("twice")
		if err := os.Symlink(dir, t.Dir("links")+"/twice"); err != nil {
			t.Fatal("plant a link: %v", err)
		}
		return subject.Spec{Paths: &subject.Paths{RO: []string{dir}, RW: []string{t.Dir("links") + "/twice"}}}
	}}},
	{Name: "path-ro-and-rw-by-dots", Value: weakened{names: "twice", like: writable, field: "paths", spec: func(t *kit.T) subject.Spec {
		dir := t.Dir("twice")
		return subject.Spec{Paths: &subject.Paths{RO: []string{dir}, RW: []string{t.Dir("other") + "/../twice/"}}}
	}}},
	{Name: "containment", Value: weakened{knob: "deny-pidns", names: "contained", spec: func(t *kit.T) subject.Spec {
		t.Require(subject.HostServers)
		server := t.Server("contained")
		server.Containment = "namespace"
		return subject.Spec{Policy: "prefer", Servers: []subject.Server{server}}
	}}},
}, func(ctx context.Context, t *kit.T, w weakened) {
	spec := w.spec(t)
	var options []kit.Option
	plain := subject.Spec{}
	if w.like != nil {
		plain = w.like(t)
	}
	if w.knob != "" {
		plain = spec
		options = append(options, kit.WithKnob(w.knob))
	}
	runs := t.Start(ctx, plain)
	if w.field != "" {
		runs.Honoured(ctx, w.field)
	}
	t.Control("without what cannot be honoured the agent runs", runs.Fate(ctx), kit.Be("the agent runs"))
	runs.Finish(ctx)
	phase := t.Start(ctx, spec, options...)
	t.Attempt("the start", phase.Fate(ctx), kit.Be("exit code 125"))
	t.Attempt("the refusal", said(phase), kit.Contain(w.names))
	t.FarSide("processes that are left", t.Strays(), kit.BeNone())
})

// writable declares one folder to write to.
func writable(t *kit.T) subject.Spec {
	return subject.Spec{Paths: &subject.Paths{RW: []string{t.Dir("writable")}}}
}

func network(word string) func(*kit.T) subject.Spec {
	return func(*kit.T) subject.Spec { return subject.Spec{Network: word} }
}

// said is all that was told of a refusal.
func said(phase *kit.Phase) string {
	var words []string
	for _, e := range phase.Events("") {
		if e.Kind == subject.EventError || e.Kind == subject.EventUnsupported {
			words = append(append(words, e.Field, e.Server, e.Reason), e.Causes...)
		}
	}
	return strings.Join(words, "\n")
}

var _ = kit.Table(catalog.Case{
	ID:     "FBK-011",
	Title:  "chooses a door by the agent's transports, and falls back when none fits",
	Must:   "The agent's declared transports MUST choose the door; when none fits, the fallback MUST go by policy and name agent and transport.",
	Level:  catalog.Security,
	Clause: "7.11",
	Needs:  []subject.Capability{subject.NetNS, subject.HostServers, subject.Fallback, subject.Events},
	Host:   []catalog.HostFact{catalog.HostUserNS},
	Faults: []string{"doorless-agent-isolated"},
	Why:    "An agent that only starts its servers itself is cut off from all of them by a bridge that only speaks HTTP.",
}, []kit.Row[string]{
	{Name: "fits", Value: ""},
	{Name: "require", Value: "require"},
	{Name: "prefer", Value: "prefer"},
}, func(ctx context.Context, t *kit.T, policy string) {
	server := t.Server("tools")
	server.Transports = []string{"http"}
	fits := t.Start(ctx, subject.Spec{Servers: []subject.Server{server}, Agent: &subject.Agent{Transports: []string{"stdio", "http"}}})
	t.Control("an agent that speaks the transport runs", fits.Fate(ctx), kit.Be("the agent runs"))
	if policy == "" {
		decided(ctx, t, fits, connect, isolated)
		t.Attempt("a call through the door", fits.Agent.Call(ctx, "tools", "echo", map[string]any{"text": "fits"}), kit.HaveText("fits"))
		return
	}
	fits.Finish(ctx)

	phase := t.Start(ctx, subject.Spec{
		Policy: policy, Servers: []subject.Server{server}, Agent: &subject.Agent{Transports: []string{"stdio"}},
	})
	reason := ""
	if policy == "require" {
		t.Attempt("the start", phase.Fate(ctx), kit.Be("exit code 125"))
		reason = said(phase)
	} else {
		reason = decided(ctx, t, phase, shared, userns).Reason
	}
	t.Attempt("the reason names the agent", reason, kit.Contain("probe"))
	t.Attempt("the reason names the transport", reason, kit.Contain("stdio"))
	t.Attempt("the reason names the server", reason, kit.Contain("tools"))
})
