package loopback

import (
	"context"

	"bridgecheck/suites/catalog"
	"bridgecheck/suites/kit"
	"bridgecheck/suites/subject"
)

var _ = kit.Check(catalog.Case{
	ID:     "LPB-006",
	Title:  "has lo up without any bridge too",
	Must:   "When isolation is asked for without any bridge, lo MUST still come up.",
	Level:  catalog.Interoperability,
	Clause: "3.6",
	Needs:  []subject.Capability{subject.NetNS},
	Host:   []catalog.HostFact{catalog.HostUserNS},
	Faults: []string{"lo-for-bridges-only"},
	Why:    "An agent without servers starts helpers of its own on loopback as well.",
}, func(ctx context.Context, t *kit.T) {
	loopback := pair{"tcp4", "127.0.0.1:0"}
	bare := t.Bare(ctx)
	t.Control("lo in a bare namespace", flags(bare.Facts(ctx)), kit.Lack("UP"))
	t.Control("two sockets in a bare namespace", meet(ctx, bare, loopback), kit.HaveErrno("ENETUNREACH", "EADDRNOTAVAIL"))

	phase := t.Start(ctx, subject.Spec{Network: "isolated", Proxy: &subject.Proxy{Mode: "off"}})
	phase.Honoured(ctx, "network", "proxy.mode")
	agent := phase.Agent
	t.Control("the agent's environment names no proxy", agent.Env(ctx, "HTTP_PROXY"), kit.Be(""))
	t.Attempt("lo in the sandbox", flags(agent.Facts(ctx)), kit.Contain("UP"))
	t.Attempt("two sockets of the sandbox meet on it", meet(ctx, agent, loopback), kit.HaveData("ping"))
})
