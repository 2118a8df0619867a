package lifecycle

import (
	"context"

	"bridgecheck/suites/catalog"
	"bridgecheck/suites/kit"
	"bridgecheck/suites/subject"
)

var _ = kit.Table(catalog.Case{
	ID:     "LIF-016",
	Title:  "ends a phase that runs out of time with code 124 and says so",
	Must:   "A timeout for the phase MUST end it with exit 124 and its own event.",
	Level:  catalog.Interoperability,
	Clause: "6.16",
	Needs:  []subject.Capability{subject.HostServers, subject.Events},
	Host:   []catalog.HostFact{catalog.HostUserNS},
	Faults: []string{"timeout-told-as-signal"},
	Why:    "124 is what timeout(1) gives and scripts ask for.",
}, []kit.Row[string]{
	{Name: "agent", Value: "0s"},
	{Name: "start", Value: "20s"},
}, func(ctx context.Context, t *kit.T, delay string) {
	unbounded := t.Start(ctx, subject.Spec{Servers: []subject.Server{t.Server("prompt")}})
	t.Control("without a timeout the phase ends with its agent", unbounded.Finish(ctx), kit.Be(kit.Exit{}))

	phase := t.Start(ctx, subject.Spec{
		Servers: []subject.Server{t.Server("server", "--start-delay", delay)}, Timeouts: &subject.Timeouts{PhaseMS: 700},
	})
	t.Attempt("the subject's exit", phase.Wait(ctx), kit.Be(kit.Exit{Code: 124}))
	own := phase.Events(subject.EventError)
	t.Attempt("events of what ended it", len(own), kit.Be(1))
	t.Attempt("the stage of it", own[0].Stage, kit.Be("timeout"))
	t.FarSide("processes that are left", t.Strays(), kit.BeNone())
})
