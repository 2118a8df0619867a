package fallback

import (
	"context"

	"bridgecheck/suites/catalog"
	"bridgecheck/suites/kit"
	"bridgecheck/suites/subject"
)

var _ = kit.Table(catalog.Case{
	ID:     "FBK-001",
	Title:  "isolates the network when every server is declared or bridged",
	Must:   "When all servers declare allowed hosts, or are bridged from the host, netns MUST stay on, mode connect.",
	Level:  catalog.Interoperability,
	Clause: "7.1",
	Needs:  []subject.Capability{subject.NetNS, subject.Events},
	Host:   []catalog.HostFact{catalog.HostUserNS},
	Faults: []string{"bridged-servers-share"},
}, []kit.Row[func(*kit.T) []subject.Server]{
	{Name: "declared", Value: func(t *kit.T) []subject.Server {
		t.Require(subject.SandboxServers)
		return []subject.Server{inSandbox("a", rule("a.example.test")), inSandbox("b", rule("b.example.test"))}
	}},
	{Name: "bridged", Value: func(t *kit.T) []subject.Server {
		t.Require(subject.HostServers)
		return []subject.Server{t.Server("a"), t.Server("b")}
	}},
	{Name: "both", Value: func(t *kit.T) []subject.Server {
		t.Require(subject.HostServers)
		t.Require(subject.SandboxServers)
		return []subject.Server{t.Server("a"), inSandbox("b", rule("b.example.test"))}
	}},
}, func(ctx context.Context, t *kit.T, servers func(*kit.T) []subject.Server) {
	control(ctx, t)
	told := decided(ctx, t, t.Start(ctx, subject.Spec{Servers: servers(t)}), connect, isolated)
	t.Attempt("servers that caused the mode", told.Servers, kit.BeNone())
})

// control shows that the same harness sees the other mode too, where the subject
// offers it, and that the comparison of namespaces can tell both ways.
func control(ctx context.Context, t *kit.T) {
	outside := t.Outside(ctx).Facts(ctx).Namespaces["net"]
	t.Control("a bare namespace is another one", t.Bare(ctx).Facts(ctx).Namespaces["net"], kit.Differ(outside))
	if t.Subject().Claims(subject.Fallback) {
		phase := t.Start(ctx, subject.Spec{Network: "shared"})
		t.Control("a phase that asks for the host's network has it", phase.Agent.Facts(ctx).Namespaces["net"], kit.Be(outside))
	}
}

var _ = kit.Check(catalog.Case{
	ID:     "FBK-002",
	Title:  "shares the network for a server without allowed hosts, and names it",
	Must:   "A sandboxed server without allowed hosts MUST lead to mode shared-network with netns off, and the reason MUST name the server.",
	Level:  catalog.Security,
	Clause: "7.2",
	Needs:  []subject.Capability{subject.NetNS, subject.SandboxServers, subject.Fallback, subject.Events},
	Host:   []catalog.HostFact{catalog.HostUserNS},
	Faults: []string{"sharing-names-nobody"},
	Why:    "The network that an agent has may not change without a word because somebody added a server.",
}, func(ctx context.Context, t *kit.T) {
	declared := t.Start(ctx, subject.Spec{Servers: []subject.Server{inSandbox("unbounded", rule("a.example.test"))}})
	t.Control("the same server with allowed hosts", declared.Mode(ctx).Mode, kit.Be(connect))

	told := decided(ctx, t, t.Start(ctx, subject.Spec{Servers: []subject.Server{inSandbox("unbounded")}}), shared, userns)
	t.Attempt("the reason", told.Reason, kit.Contain("unbounded"))
	t.Attempt("servers that caused the mode", told.Servers, kit.Be([]string{"unbounded"}))
})

var _ = kit.Check(catalog.Case{
	ID:     "FBK-003",
	Title:  "shares the network for one server among several, and names just that one",
	Must:   "Of servers with and without allowed hosts, mode MUST be shared-network and the reason MUST name the servers that caused it.",
	Level:  catalog.Security,
	Clause: "7.3",
	Needs:  []subject.Capability{subject.NetNS, subject.SandboxServers, subject.Fallback, subject.Events},
	Host:   []catalog.HostFact{catalog.HostUserNS},
	Faults: []string{"mixed-servers-isolated"},
	Why:    "A network that is kept isolated leaves the one server without any host: it fails far from its cause.",
}, func(ctx context.Context, t *kit.T) {
	declared := inSandbox("declared", rule("a.example.test"))
	t.Control("the declared server alone", t.Start(ctx, subject.Spec{Servers: []subject.Server{declared}}).Mode(ctx).Mode, kit.Be(connect))

	phase := t.Start(ctx, subject.Spec{Servers: []subject.Server{inSandbox("zulu"), declared, inSandbox("alpha")}})
	told := decided(ctx, t, phase, shared, userns)
	t.Attempt("servers that caused the mode", told.Servers, kit.Be([]string{"alpha", "zulu"}))
	for _, name := range told.Servers {
		t.Attempt("the reason", told.Reason, kit.Contain(name))
	}
})

var _ = kit.Check(catalog.Case{
	ID:     "FBK-005",
	Title:  "isolates the network when there are no servers",
	Must:   "Without servers netns MUST stay on.",
	Level:  catalog.Interoperability,
	Clause: "7.5",
	Needs:  []subject.Capability{subject.NetNS, subject.Events},
	Host:   []catalog.HostFact{catalog.HostUserNS},
	Faults: []string{"no-servers-share"},
}, func(ctx context.Context, t *kit.T) {
	control(ctx, t)
	decided(ctx, t, t.Start(ctx, subject.Spec{}), connect, isolated)
})
