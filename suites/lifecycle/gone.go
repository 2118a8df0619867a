package lifecycle

import (
	"context"

	"bridgecheck/suites/catalog"
	"bridgecheck/suites/kit"
	"bridgecheck/suites/subject"
)

var _ = kit.Table(catalog.Case{
	ID:     "LIF-004",
	Title:  "ends every server with all its descendants",
	Must:   "After the phase every server MUST be stopped and gone, with all descendants.",
	Level:  catalog.Security,
	Clause: "6.4",
	Needs:  []subject.Capability{subject.HostServers},
	Host:   []catalog.HostFact{catalog.HostUserNS},
	Faults: []string{"kills-leader-only"},
	Why:    "npx and uvx put the server two processes below the one that was started; hundreds of orphans have been found on one machine.",
}, []kit.Row[[]string]{
	{Name: "child", Value: []string{"child"}},
	{Name: "double-fork", Value: []string{"double"}},
	{Name: "setsid", Value: []string{"setsid"}},
	{Name: "holds-the-pipe", Value: []string{"hold-pipe"}},
	{Name: "all", Value: []string{"child", "double", "setsid", "hold-pipe"}},
}, func(ctx context.Context, t *kit.T, kinds []string) {
	mark := t.Unique()
	flags := []string{"--mark", mark}
	for _, kind := range kinds {
		flags = append(flags, "--fork", kind)
	}
	phase := t.Start(ctx, subject.Spec{Servers: []subject.Server{t.Server("tree", flags...)}})
	t.Control("the phase runs", phase.Fate(ctx), kit.Be("the agent runs"))
	t.Control("the server and its descendants are there", len(withMark(t, mark)) > len(kinds), kit.Be(true))

	t.Attempt("the phase ends", phase.Finish(ctx), kit.Be(kit.Exit{}))
	t.FarSide("processes that are left", t.Strays(), kit.BeNone())
})
