// Package fallback holds the checks of section 7 of the contract: which
// isolation a phase has, and what happens when it cannot be had.
package fallback

import (
	"context"

	"bridgecheck/suites/kit"
	"bridgecheck/suites/subject"
)

// The words of the mode event.
const (
	connect  = "connect"
	shared   = "shared-network"
	isolated = "isolated"
	userns   = "shared/userns"
	none     = "shared/none"
)

// decided asserts the mode of a phase, in its event and by the agent's network
// namespace, and returns the event.
func decided(ctx context.Context, t *kit.T, phase *kit.Phase, mode, level string) subject.Event {
	t.Attempt("the phase runs", phase.Fate(ctx), kit.Be("the agent runs"))
	told := phase.Mode(ctx)
	t.Attempt("the mode that is told", told.Mode, kit.Be(mode))
	t.Attempt("the level that is told", told.Level, kit.Be(level))
	own := phase.Agent.Facts(ctx).Namespaces["net"] != t.Outside(ctx).Facts(ctx).Namespaces["net"]
	t.Attempt("the agent has a network namespace of its own", own, kit.Be(mode == connect))
	return told
}

// inSandbox is a server that the agent itself starts.
func inSandbox(name string, hosts ...subject.Rule) subject.Server {
	return subject.Server{Name: name, Placement: "sandbox", Command: "/bin/true", AllowedHosts: hosts}
}

// rule allows port 443 of a host.
func rule(host string) subject.Rule { return subject.Rule{Host: host, Port: 443} }
