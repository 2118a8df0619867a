package relay

import (
	"context"

	"bridgecheck/fakes/attempt"
	"bridgecheck/fakes/content"
	"bridgecheck/fakes/upstream"
	"bridgecheck/suites/catalog"
	"bridgecheck/suites/kit"
	"bridgecheck/suites/subject"
)

var _ = kit.Table(catalog.Case{
	ID:     "RLY-002",
	Title:  "carries bytes unchanged both ways",
	Must:   "Bytes MUST be unchanged both ways, whatever their number and content.",
	Level:  catalog.Interoperability,
	Clause: "4.2",
	Needs:  []subject.Capability{subject.NetNS},
	Host:   []catalog.HostFact{catalog.HostUserNS},
	Faults: []string{"long-reads-cut"},
	Why:    "What a buffer's size decides is seen at its edges only.",
}, []kit.Row[int64]{
	{Name: "0", Value: 0},
	{Name: "1", Value: 1},
	{Name: "65535", Value: 65535},
	{Name: "65536", Value: 65536},
	{Name: "65537", Value: 65537},
	{Name: "1-mib", Value: 1 << 20},
	{Name: "64-mib", Value: 64 << 20},
}, func(ctx context.Context, t *kit.T, size int64) {
	const seed = 2
	want := content.SHA256(seed, size)
	echo := t.Echo()
	exchange := attempt.Attempt{Op: attempt.OpExchange, Conn: "line", Size: size, Seed: seed, Until: "eof", TimeoutMS: 15000}
	outside := t.Outside(ctx)
	outside.Do(ctx, attempt.Attempt{Op: attempt.OpDial, Network: "tcp", Address: echo.Addr().String(), Conn: "line"})
	t.Control("what comes back outside", outside.Do(ctx, exchange).SHA256, kit.Be(want))

	for _, way := range claimed(t) {
		l := way.Value(ctx, t, upstream.RawEcho, subject.Spec{})
		l.opened(t, "line")
		came := l.agent.Do(ctx, exchange)
		t.Attempt("what comes back by "+way.Name, came.SHA256, kit.Be(want))
		t.Attempt("bytes that come back by "+way.Name, came.Bytes, kit.Be(size))
		streams := l.far.Streams()
		t.FarSide("what the server got by "+way.Name, streams[len(streams)-1].SHA256, kit.Be(want))
		l.phase.Finish(ctx)
	}
})

// claimed are the lines that the subject has.
func claimed(t *kit.T) []kit.Row[lay] {
	var have []kit.Row[lay]
	for _, way := range lines() {
		need := subject.Connect
		if way.Name == "relay" {
			need = subject.ForeignRelay
		}
		if t.Subject().Claims(need) {
			have = append(have, way)
		}
	}
	if have == nil {
		t.NotApplicable("the subject claims neither %s nor %s", subject.Connect, subject.ForeignRelay)
	}
	return have
}
