package relay

import (
	"context"
	"strings"

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
	spec := subject.Spec{Timeouts: &subject.Timeouts{IdleMS: 2000}}
	silent := way(ctx, t, upstream.Silent, spec)
	silent.opened(t, "line")

	// The server sends a byte every 100 ms, far below the limit on a slow machine
	// too: 25 of them take longer than it.
	ticks := way(ctx, t, upstream.Ticker, spec)
	ticks.opened(t, "line")
	heard := ticks.agent.Do(ctx, attempt.Attempt{Op: attempt.OpReceive, Conn: "line", Until: "size", Size: 25, TimeoutMS: 10_000})
	ended := silent.agent.Do(ctx, attempt.Attempt{Op: attempt.OpReceive, Conn: "line", Until: "eof", TimeoutMS: 10_000})
	t.Control("a connection without a byte is ended meanwhile", ended.Errno, kit.Differ("timeout"))
	t.Attempt("a stream that only flows to the client", heard, kit.HaveData(strings.Repeat(".", 25)))
	t.FarSide("the connection at the server has ended", last(ticks.far).Ended, kit.Be(false))
})
