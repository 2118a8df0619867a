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
	ID:     "RLY-011",
	Title:  "holds no byte back",
	Must:   "Bytes MUST NOT be held back: a ping-pong of single bytes, each side waiting for the other, MUST go on both ways.",
	Level:  catalog.Interoperability,
	Clause: "4.11",
	Needs:  []subject.Capability{subject.NetNS},
	Host:   []catalog.HostFact{catalog.HostUserNS},
	Faults: []string{"bytes-held-back"},
	Why:    "An event stream behind a buffer of 4 KiB shows its first event with its fortieth.",
}, lines(), func(ctx context.Context, t *kit.T, way lay) {
	echo := t.Echo()
	outside := t.Outside(ctx)
	outside.Do(ctx, attempt.Attempt{Op: attempt.OpDial, Network: "tcp", Address: echo.Addr().String(), Conn: "line"})
	t.Control("a byte and its echo outside", pingPong(ctx, outside, "o"), kit.HaveData("o"))

	l := way(ctx, t, upstream.RawEcho, subject.Spec{})
	l.opened(t, "line")
	for _, b := range []string{"a", "b", "c", "d", "e"} {
		t.Attempt("a byte and its echo", pingPong(ctx, l.agent, b), kit.HaveData(b))
	}
	t.FarSide("bytes at the server", last(l.far).Bytes, kit.Be(int64(5)))
})

func pingPong(ctx context.Context, a *kit.Agent, b string) attempt.Observation {
	a.Send(ctx, "line", []byte(b))
	return a.Do(ctx, attempt.Attempt{Op: attempt.OpReceive, Conn: "line", Until: "size", Size: 1, TimeoutMS: 2000})
}
