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
	ID:     "RLY-005",
	Title:  "counts a connection as idle only when both directions are",
	Must:   "One silent direction MUST NOT end a connection: a stream that only flows from server to client for longer than the idle limit MUST go on.",
	Level:  catalog.Interoperability,
	Clause: "4.5",
	Needs:  []subject.Capability{subject.NetNS, subject.IdleConfig},
	Host:   []catalog.HostFact{catalog.HostUserNS},
	Faults: []string{"idle-per-direction"},
	Why:    "A model's answer, a log that is followed and an event stream flow one way for minutes.",
}, lines(), func(ctx context.Context, t *kit.T, way lay) {
	spec := subject.Spec{Timeouts: &subject.Timeouts{IdleMS: 400}}
	silent := way(ctx, t, upstream.Silent, spec)
	silent.opened(t, "line")
	ended := silent.agent.Do(ctx, attempt.Attempt{Op: attempt.OpReceive, Conn: "line", Until: "eof", TimeoutMS: 5000})
	t.Control("a connection without a byte is ended", ended.Errno, kit.Differ("timeout"))
	silent.phase.Finish(ctx)

	// The server sends a byte every 100 ms: ten of them take twice the limit.
	ticks := way(ctx, t, upstream.Ticker, spec)
	ticks.opened(t, "line")
	heard := ticks.agent.Do(ctx, attempt.Attempt{Op: attempt.OpReceive, Conn: "line", Until: "size", Size: 10, TimeoutMS: 5000})
	t.Attempt("a stream that only flows to the client", heard, kit.HaveData(".........."))
	t.FarSide("the connection at the server has ended", last(ticks.far).Ended, kit.Be(false))
})
