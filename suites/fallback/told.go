package fallback

import (
	"context"
	"strings"

	"bridgecheck/suites/catalog"
	"bridgecheck/suites/kit"
	"bridgecheck/suites/subject"
)

var _ = kit.Table(catalog.Case{
	ID:     "FBK-007",
	Title:  "tells the mode, its level and its reason first, in the log and to the agent",
	Must:   "The active mode, its level and its reason MUST be the first event and one log line, and in the agent's environment.",
	Level:  catalog.Security,
	Clause: "7.7",
	Needs:  []subject.Capability{subject.NetNS, subject.Fallback, subject.Events},
	Host:   []catalog.HostFact{catalog.HostUserNS},
	Faults: []string{"agent-told-isolated", "mode-not-logged"},
	Why:    "Who runs the agent and the agent itself must know when it is weaker than usual.",
}, []kit.Row[weaker]{
	{Name: "connect"},
	{Name: "shared-network", Value: weaker{spec: subject.Spec{Network: "shared"}}},
	{Name: "no-namespace", Value: weaker{spec: subject.Spec{Policy: "prefer"}, knob: "max-user-ns=0"}},
}, func(ctx context.Context, t *kit.T, w weaker) {
	phase := t.Start(ctx, w.spec, kit.WithKnob(w.knob))
	t.Control("the phase runs", phase.Fate(ctx), kit.Be("the agent runs"))
	t.Attempt("the first event", phase.Events("")[0].Kind, kit.Be(subject.EventMode))
	told := phase.Mode(ctx)
	t.Attempt("its reason", told.Reason, kit.Differ(""))
	agent := phase.Agent
	t.Attempt("the agent's BRIDGE_MODE", agent.Env(ctx, "BRIDGE_MODE"), kit.Be(told.Mode))
	t.Attempt("the agent's BRIDGE_LEVEL", agent.Env(ctx, "BRIDGE_LEVEL"), kit.Be(told.Level))
	t.Attempt("the agent's BRIDGE_REASON", agent.Env(ctx, "BRIDGE_REASON"), kit.Be(told.Reason))
	phase.Finish(ctx)
	lines := 0
	for line := range strings.Lines(phase.Stderr()) {
		if strings.Contains(line, told.Mode) && strings.Contains(line, told.Level) {
			lines++
		}
	}
	t.Attempt("lines of the log with mode and level", lines, kit.Be(1))
})
