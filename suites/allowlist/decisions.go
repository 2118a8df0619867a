package allowlist

import (
	"context"
	"fmt"

	"bridgecheck/suites/catalog"
	"bridgecheck/suites/kit"
	"bridgecheck/suites/subject"
)

// judged is a request and the verdicts that its decision event may tell.
type judged struct {
	host     func(t *kit.T) subject.Rule
	declared bool
	verdicts []string
}

var _ = kit.Table(catalog.Case{
	ID:     "ALW-024",
	Title:  "tells every decision as an event",
	Must:   "Every decision MUST be an event with time, rule or server, target, dialled address, verdict and reason; refused attempts too.",
	Level:  catalog.Interoperability,
	Clause: "5.24",
	Needs:  []subject.Capability{subject.Connect, subject.Events},
	Faults: []string{"refusals-unlogged", "server-unnamed"},
	Why:    "Who cannot see which host was blocked switches the proxy off.",
}, []kit.Row[func(context.Context, *kit.T)]{
	{Name: "allowed", Value: judged{live, true, []string{"allow"}}.check},
	{Name: "refused", Value: judged{live, false, []string{"deny"}}.check},
	{Name: "prohibited", Value: judged{insider, true, []string{"deny", "error"}}.check},
	{Name: "failed", Value: judged{closed, true, []string{"error"}}.check},
	{Name: "server", Value: toldOfServer},
}, func(ctx context.Context, t *kit.T, run func(context.Context, *kit.T)) { run(ctx, t) })

func (j judged) check(ctx context.Context, t *kit.T) {
	for _, f := range forms(t) {
		target := j.host(t)
		spec := subject.Spec{Allow: []subject.Rule{{Host: "unrelated.test", Port: 443}}}
		if j.declared {
			spec.Allow = append(spec.Allow, target)
		}
		phase := t.Start(ctx, spec)
		t.Control(f.name+" is answered", ask(ctx, f, phase.Agent, target), kit.BeStatus(200, 403, 502))

		name := fmt.Sprintf("%s:%d", target.Host, target.Port)
		e := decision(ctx, t, phase)
		t.Attempt("target of the event", e.Target, kit.Be(name))
		t.Attempt("verdict", e.Verdict, kit.BeOneOf(j.verdicts...))
		t.Attempt("time is set", e.Time.IsZero(), kit.Be(false))
		if e.Verdict == "allow" {
			t.Attempt("rule", e.Rule, kit.Differ(""))
			t.Attempt("address that was dialled", e.Dialled, kit.Be(fmt.Sprintf("%s:%d", publicAddress, target.Port)))
		} else {
			t.Attempt("reason", e.Reason, kit.Differ(""))
		}
	}
}

// decision is the only one of a phase, which is ended: no other can come then.
func decision(ctx context.Context, t *kit.T, phase *kit.Phase) subject.Event {
	t.Control("the phase ends", phase.Finish(ctx), kit.Be(kit.Exit{}))
	told := phase.Events(subject.EventDecision)
	t.Attempt("decisions told", len(told), kit.Be(1))
	return told[0]
}

func toldOfServer(ctx context.Context, t *kit.T) {
	t.Require(subject.VirtualNames)
	t.Require(subject.HostServers)
	phase := t.Start(ctx, subject.Spec{Servers: []subject.Server{t.Server("jira")}})
	t.Control("CONNECT to the server's name", phase.Agent.Connect(ctx, "jira.mcp.internal:80"), kit.BeStatus(200))
	e := decision(ctx, t, phase)
	t.Attempt("target of the event", e.Target, kit.Be("jira.mcp.internal:80"))
	t.Attempt("server", e.Server, kit.Be("jira"))
	t.Attempt("verdict", e.Verdict, kit.Be("allow"))
}
