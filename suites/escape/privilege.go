package escape

import (
	"context"

	"bridgecheck/suites/catalog"
	"bridgecheck/suites/kit"
	"bridgecheck/suites/subject"
)

var _ = kit.Check(catalog.Case{
	ID:     "ESC-010",
	Title:  "has no capability and cannot gain one",
	Must:   "no_new_privs MUST be set and no capability MUST be left, in the bounding set too; set-uid programs gain nothing.",
	Level:  catalog.Security,
	Clause: "11.10",
	Faults: []string{"capabilities-kept", "bounding-set-kept"},
	Why:    "A capability in the agent's user namespace is enough to take its network apart; one in the bounding set comes back with the next exec.",
}, func(ctx context.Context, t *kit.T) {
	bare := t.Bare(ctx).Facts(ctx)
	t.Control("a bare namespace has capabilities in its bounding set", bare.Capabilities["CapBnd"], kit.Differ(none))
	t.Control("and no_new_privs is not set there", bare.NoNewPrivs, kit.Be(false))

	inside := t.Start(ctx, subject.Spec{}).Agent.Facts(ctx)
	for _, set := range []string{"CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb"} {
		t.Attempt(set, inside.Capabilities[set], kit.Be(none))
	}
	t.Attempt("no_new_privs", inside.NoNewPrivs, kit.Be(true))
})

// none is an empty capability set as /proc/self/status prints it.
const none = "0000000000000000"
