package relay

import (
	"context"

	"bridgecheck/fakes/attempt"
	"bridgecheck/fakes/upstream"
	"bridgecheck/suites/catalog"
	"bridgecheck/suites/kit"
	"bridgecheck/suites/subject"
)

var _ = kit.Table(catalog.Case{
	ID:     "RLY-010",
	Title:  "lets a server speak first",
	Must:   "A server that speaks first MUST be heard before the client has sent any byte.",
	Level:  catalog.Interoperability,
	Clause: "4.10",
	Needs:  []subject.Capability{subject.NetNS},
	Host:   []catalog.HostFact{catalog.HostUserNS},
	Faults: []string{"server-waits-for-client"},
	Why:    "SMTP, SSH and MySQL greet; a proxy that looks at the client's first bytes first stands still with them.",
}, lines(), func(ctx context.Context, t *kit.T, way lay) {
	greets := t.Upstream(upstream.SpeaksFirst)
	greeting := attempt.Attempt{Op: attempt.OpDial, Network: "tcp", Address: greets.Addr().String(), Until: "line"}
	t.Control("the greeting outside", t.Outside(ctx).Do(ctx, greeting), kit.HaveData(upstream.Banner))

	l := way(ctx, t, upstream.SpeaksFirst, subject.Spec{})
	l.opened(t, "line")
	heard := l.agent.Do(ctx, attempt.Attempt{Op: attempt.OpReceive, Conn: "line", Until: "line", TimeoutMS: 2000})
	t.Attempt("the greeting", heard, kit.HaveData(upstream.Banner))
	t.FarSide("bytes that the server got before it", last(l.far).Bytes, kit.Be(int64(0)))
})
