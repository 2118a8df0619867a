package lifecycle

import (
	"context"

	"bridgecheck/suites/catalog"
	"bridgecheck/suites/kit"
	"bridgecheck/suites/subject"
)

var _ = kit.Table(catalog.Case{
	ID:     "LIF-017",
	Title:  "waits for a slow server as long as its own start timeout allows",
	Must:   "A slow server MUST start when its start timeout allows, with progress shown; it MUST fail at the timeout otherwise.",
	Level:  catalog.Interoperability,
	Clause: "6.17",
	Needs:  []subject.Capability{subject.HostServers, subject.Events},
	Host:   []catalog.HostFact{catalog.HostUserNS},
	Faults: []string{"start-timeout-fixed", "progress-untold"},
	Why:    "npx and uvx download on the first start; a fixed limit of a few seconds makes that start fail for good.",
}, []kit.Row[int]{
	{Name: "allowed", Value: 20_000},
	{Name: "exceeded", Value: 700},
}, func(ctx context.Context, t *kit.T, limit int) {
	prompt := t.Server("prompt")
	prompt.StartTimeoutMS = limit
	t.Control("a prompt server with the same limit", t.Start(ctx, subject.Spec{Servers: []subject.Server{prompt}}).Fate(ctx), kit.Be("the agent runs"))

	slow := t.Server("slow", "--start-delay", "1600ms")
	slow.StartTimeoutMS = limit
	phase := t.Start(ctx, subject.Spec{Servers: []subject.Server{slow}})
	if limit < 1600 {
		t.Attempt("the start", phase.Fate(ctx), kit.Be("exit code 125"))
		t.Attempt("the error names the server", of(phase.Events(subject.EventError), "slow").Reason, kit.Differ(""))
		t.FarSide("requests that the server has answered", requests(t.Announced("slow")), kit.BeNone())
		return
	}
	t.Attempt("the start", phase.Fate(ctx), kit.Be("the agent runs"))
	t.Attempt("progress events of the server", of(phase.Events(subject.EventServerProgress), "slow").Server, kit.Be("slow"))
	t.FarSide("requests that the server has had", requests(t.Announced("slow")), kit.Differ([]string{}))
})
