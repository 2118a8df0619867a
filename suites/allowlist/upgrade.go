package allowlist

import (
	"context"

	"bridgecheck/fakes/attempt"
	"bridgecheck/fakes/upstream"
	"bridgecheck/suites/catalog"
	"bridgecheck/suites/kit"
	"bridgecheck/suites/subject"
)

// upgrade is a WebSocket handshake in absolute form (RFC 6455 section 4.1).
func upgrade(ctx context.Context, a *kit.Agent, u *kit.Upstream) attempt.Observation {
	return a.Raw(ctx, "websocket", []byte(fill("GET URLupgrade HTTP/1.1\r\nHost: NAME:PORT\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"+
		"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n", u)))
}

var _ = kit.Table(catalog.Case{
	ID:     "ALW-021",
	Title:  "judges a WebSocket upgrade like any request",
	Must:   "A WebSocket upgrade in absolute form MUST take the same decision and the same dialler as any other request.",
	Level:  catalog.Security,
	Clause: "5.21",
	Needs:  []subject.Capability{subject.AbsoluteForm},
	Faults: []string{"upgrade-by-another-dialler", "upgrade-unjudged"},
	Why:    "A code path of its own for upgrades has had a dialler of its own, without the checks.",
}, []kit.Row[string]{
	{Name: "undeclared", Value: publicAddress},
	{Name: "special-use", Value: private},
}, func(ctx context.Context, t *kit.T, address string) {
	allowed, other := t.HTTP(), t.UpstreamAt(upstream.HTTP, address)
	spec := subject.Spec{Allow: []subject.Rule{allowed.Rule()}}
	if address == private {
		spec.Allow = append(spec.Allow, other.Rule())
	}
	agent := t.Start(ctx, spec).Agent
	t.Control("an upgrade at the declared host", upgrade(ctx, agent, allowed), kit.BeStatus(101))
	agent.Send(ctx, "websocket", []byte("frame\n"))
	t.Control("what comes back", agent.Receive(ctx, "websocket", "line"), kit.HaveData("frame\n"))

	t.Attempt("an upgrade at the other", upgrade(ctx, agent, other), kit.BeRefusal())
	t.FarSide("connections at the other", other.Heard(), kit.BeNone())
})
