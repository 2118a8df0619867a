package loopback

import (
	"context"
	"slices"
	"strings"

	"bridgecheck/fakes/attempt"
	"bridgecheck/suites/catalog"
	"bridgecheck/suites/kit"
	"bridgecheck/suites/subject"
)

var _ = kit.Check(catalog.Case{
	ID:     "LPB-001",
	Title:  "has lo up at the agent's first instruction",
	Must:   "In the sandbox lo MUST be UP and RUNNING when the agent's first instruction runs.",
	Level:  catalog.Interoperability,
	Clause: "3.1",
	Needs:  []subject.Capability{subject.NetNS},
	Host:   []catalog.HostFact{catalog.HostUserNS},
	Faults: []string{"lo-left-down"},
	Why:    "A bridge that listens on a loopback interface that is down starts well and answers nothing.",
}, func(ctx context.Context, t *kit.T) {
	t.Control("lo in a bare namespace", flags(t.Bare(ctx).Facts(ctx)), kit.Lack("UP"))

	phase := t.Start(ctx, subject.Spec{})
	lo := flags(phase.Agent.Facts(ctx))
	t.Attempt("lo in the sandbox is UP", lo, kit.Contain("UP"))
	t.Attempt("lo in the sandbox is RUNNING", lo, kit.Contain("RUNNING"))
})

var _ = kit.Check(catalog.Case{
	ID:     "LPB-003",
	Title:  "has a network namespace of its own with nothing but lo",
	Must:   "The network namespace MUST differ from the host's, and nothing but lo MUST be up or addressed in it.",
	Level:  catalog.Security,
	Clause: "3.3",
	Needs:  []subject.Capability{subject.NetNS},
	Host:   []catalog.HostFact{catalog.HostUserNS},
	Faults: []string{"host-netns-shared"},
	Why:    "Hosts with tunnel modules plant sit0 and tunl0 in each new namespace: they may be there, down and without address.",
}, func(ctx context.Context, t *kit.T) {
	outside := t.Outside(ctx).Facts(ctx)
	t.Control("lo of the lab outside has addresses", addressed(outside), kit.Contain("lo"))

	inside := t.Start(ctx, subject.Spec{}).Agent.Facts(ctx)
	t.Attempt("network namespace inside", inside.Namespaces["net"], kit.Differ(outside.Namespaces["net"]))
	t.Attempt("interfaces but lo that are up or have an address", others(inside), kit.BeNone())
})

// flags are those of lo.
func flags(f attempt.Facts) []string {
	for _, i := range f.Interfaces {
		if i.Name == "lo" {
			return i.Flags
		}
	}
	return []string{}
}

func addressed(f attempt.Facts) []string {
	names := []string{}
	for _, i := range f.Interfaces {
		if len(i.Addresses) > 0 {
			names = append(names, i.Name)
		}
	}
	return names
}

func others(f attempt.Facts) []string {
	names := []string{}
	for _, i := range f.Interfaces {
		if i.Name != "lo" && (slices.Contains(i.Flags, "UP") || len(i.Addresses) > 0) {
			names = append(names, i.Name+" "+strings.Join(i.Addresses, " "))
		}
	}
	return names
}
