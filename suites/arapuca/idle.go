package arapuca

import (
	"context"
	"strings"
	"time"

	"bridgecheck/fakes/attempt"
	"bridgecheck/fakes/upstream"
	"bridgecheck/suites/catalog"
	"bridgecheck/suites/kit"
)

var _ = kit.Check(catalog.Case{
	ID:     "ARA-009",
	Title:  "keeps a stream that flows one way",
	Must:   "A stream that only flows from server to client MUST go on through relay and proxy, and its silent direction MUST NOT be ended.",
	Level:  catalog.Interoperability,
	Clause: "13.9",
	Host:   []catalog.HostFact{catalog.HostUserNS},
	Faults: []string{"arapuca-idle-one-way"},
	Why:    "Read in the sources: each direction has its own limit of 300 s, and many servers take the end of a request for a client that has gone. By itself the check takes three seconds and finds a limit of one or two; with --patience 310s, as the nightly run has it, it finds that of 300.",
}, func(ctx context.Context, t *kit.T) {
	u := t.Upstream(upstream.Ticker)
	p := t.Companion(ctx, whole(open(t, ruleOf(u))))
	t.Control("Launch", launched(ctx, t, p).Error, kit.Be(""))
	t.Control("a tunnel to the server", p.Agent.Connect(ctx, u.Authority()), kit.BeStatus(200))
	ticks := int64(t.Patience() / (100 * time.Millisecond)) // one every 100 ms
	heard := p.Agent.Do(ctx, attempt.Attempt{Op: attempt.OpReceive, Conn: "tunnel", Until: "size", Size: ticks, TimeoutMS: int(t.Patience().Milliseconds()) + 12_000})
	t.Attempt("the stream", heard, kit.HaveData(strings.Repeat(".", int(ticks))))
	streams := u.Streams()
	t.FarSide("the server has heard the end of the silent direction", streams[len(streams)-1].Ended, kit.Be(false))
	p.Finish(ctx)
})
