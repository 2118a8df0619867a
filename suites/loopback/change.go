package loopback

import (
	"context"

	"bridgecheck/fakes/attempt"
	"bridgecheck/suites/catalog"
	"bridgecheck/suites/kit"
	"bridgecheck/suites/subject"
)

var _ = kit.Table(catalog.Case{
	ID:     "LPB-007",
	Title:  "does not let the agent change its network",
	Must:   "The agent MUST NOT be able to reconfigure its namespace: no CAP_NET_ADMIN is left, lo cannot be set down, no interface can be added.",
	Level:  catalog.Security,
	Clause: "3.7",
	Needs:  []subject.Capability{subject.NetNS},
	Host:   []catalog.HostFact{catalog.HostUserNS},
	Faults: []string{"capabilities-kept"},
	Why:    "An agent that is uid 0 in its namespace with capabilities can cut its own bridge or add an interface.",
}, []kit.Row[attempt.Attempt]{
	{Name: "lo-down", Value: attempt.Attempt{Op: attempt.OpSetLink, Address: "lo", Args: []string{"down"}}},
	{Name: "lo-down-ioctl", Value: attempt.Attempt{Op: attempt.OpSetLink, Address: "lo", Args: []string{"down-ioctl"}}},
	{Name: "add-veth", Value: attempt.Attempt{Op: attempt.OpSetLink, Address: "bc0", Args: []string{"add-veth"}}},
	{Name: "add-address", Value: attempt.Attempt{Op: attempt.OpSetLink, Address: "lo", Args: []string{"add-address"}}},
}, func(ctx context.Context, t *kit.T, change attempt.Attempt) {
	// A bare namespace belongs to whoever made it: there the change is possible,
	// unless the kernel lacks the kind of interface.
	control := t.Bare(ctx).Do(ctx, change)
	if control.Errno == "ENOTSUP" || control.Errno == "EOPNOTSUPP" {
		t.Moot("this kernel cannot add such an interface")
	}
	t.Control("the same in a bare namespace", control, kit.Succeed())

	agent := t.Start(ctx, subject.Spec{}).Agent
	t.Attempt("the change is refused", agent.Do(ctx, change), kit.HaveErrno("EPERM"))
	t.Attempt("lo is still up", flags(agent.Facts(ctx)), kit.Contain("UP"))
})
