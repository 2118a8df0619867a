package claims

import (
	"context"

	"bridgecheck/fakes/attempt"
	"bridgecheck/suites/catalog"
	"bridgecheck/suites/kit"
	"bridgecheck/suites/subject"
)

// asked is a spec that only a subject with the capability can honour.
type asked struct {
	capability subject.Capability // empty where no word of the contract stands for it
	field      string
	spec       subject.Spec
}

var _ = kit.Table(catalog.Case{
	ID:     "CAP-002",
	Title:  "refuses what it does not claim",
	Must:   "What is not claimed MUST be refused when a spec asks for it: exit 125, an unsupported event that names the field, and no agent.",
	Level:  catalog.Security,
	Clause: "12.2",
	Needs:  []subject.Capability{subject.Events},
	Faults: []string{"unsupported-accepted"},
	Why:    "A field that is silently ignored is a promise that is silently broken.",
}, []kit.Row[asked]{
	{Name: "sni", Value: asked{subject.SNI, "proxy.sni_check", subject.Spec{Proxy: &subject.Proxy{SNICheck: true}}}},
	{Name: "tty", Value: asked{subject.TTY, "agent.tty", subject.Spec{Agent: &subject.Agent{TTY: true}}}},
	{Name: "model-route", Value: asked{subject.ModelRoute, "model", subject.Spec{Model: &subject.Model{URL: "http://203.0.113.9:80"}}}},
	{Name: "mcp-config", Value: asked{"", "agent.mcp_config", subject.Spec{
		Agent: &subject.Agent{MCPConfig: &subject.MCPConfig{Format: "claude", Path: "/tmp/mcp.json"}},
	}}},
	{Name: "path-routes", Value: asked{subject.PathRoutes, "routes", subject.Spec{Routes: []subject.Route{{Prefix: "/x/", URL: "http://203.0.113.9:80"}}}}},
	{Name: "foreign-relay", Value: asked{subject.ForeignRelay, "relays", subject.Spec{Relays: []subject.Relay{{Port: 9000, UnixSocket: "/nonexistent.sock"}}}}},
	{Name: "limits", Value: asked{subject.LimitsCap, "limits.memory", subject.Spec{Limits: &subject.Limits{Memory: 1 << 30}}}},
	{Name: "idle-config", Value: asked{subject.IdleConfig, "timeouts.idle_ms", subject.Spec{Timeouts: &subject.Timeouts{IdleMS: 1000}}}},
	{Name: "rule-addresses", Value: asked{subject.RuleAddresses, "allow.addresses", subject.Spec{
		Allow: []subject.Rule{{Host: "lan.example.test", Port: 443, Addresses: []string{"10.20.0.0/16"}}},
	}}},
}, func(ctx context.Context, t *kit.T, a asked) {
	if t.Subject().Claims(a.capability) {
		t.NotApplicable("the subject claims %s", a.capability)
	}
	plain := t.Start(ctx, subject.Spec{})
	t.Control("the same phase without the field runs its agent", plain.Agent.Facts(ctx).PID, kit.Differ(0))
	t.Control("and ends well", plain.Finish(ctx), kit.Be(kit.Exit{}))

	phase := t.Start(ctx, a.spec)
	fate := phase.Fate(ctx)
	if config := configuration(a.spec); config != "" && fate == "the agent runs" {
		// No word stands for it: who does not refuse it must have done it.
		written := phase.Agent.Do(ctx, attempt.Attempt{Op: attempt.OpReadFile, Path: config})
		t.Attempt("the file that was asked for", written, kit.Succeed())
		return
	}
	t.Attempt("a spec with "+a.field, fate, kit.Be("exit code 125"))
	t.Attempt("unsupported events", len(phase.Events(subject.EventUnsupported)), kit.Differ(0))
	t.Attempt("ready events: the agent was about to start", phase.Events(subject.EventReady), kit.BeNone())
})

// configuration is the file that the spec asks for.
func configuration(spec subject.Spec) string {
	if spec.Agent == nil || spec.Agent.MCPConfig == nil {
		return ""
	}
	return spec.Agent.MCPConfig.Path
}
