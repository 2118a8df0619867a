package arapuca

import (
	"context"
	"strconv"
	"strings"

	"bridgecheck/suites/catalog"
	"bridgecheck/suites/kit"
)

func decimal(n int) string { return strconv.Itoa(n) }

// broken is a defect of the host or of the configuration.
type broken struct {
	proxy  bool                  // what fails is the proxy's
	temp   func(t *kit.T) string // TMPDIR
	change func(*launch)
}

var _ = kit.Table(catalog.Case{
	ID:     "ARA-001",
	Title:  "gives a failure to set up as an error of Launch",
	Must:   "A set-up failure of Launch MUST come back as an error, and the program that called it MUST live on.",
	Level:  catalog.Interoperability,
	Clause: "13.1",
	Host:   []catalog.HostFact{catalog.HostUserNS},
	Faults: []string{"arapuca-exits-host"},
	Why:    "Read in the sources: a proxy that cannot be set up ends the whole calling process with exit code 125.",
}, []kit.Row[broken]{
	{Name: "no-temp", Value: broken{temp: func(t *kit.T) string { return t.Dir("gone") + "/nowhere" }}},
	// The proxy's socket lies in TMPDIR, and no path of a socket has more than 107 bytes.
	{Name: "long-temp", Value: broken{proxy: true, temp: func(t *kit.T) string { return t.Dir(strings.Repeat("d", 100)) }}},
	{Name: "no-work-dir", Value: broken{change: func(l *launch) { l.WorkDir = "/nowhere/at/all" }}},
	{Name: "colon-in-path", Value: broken{change: func(l *launch) { l.Read = []string{"/a:b"} }}},
}, func(ctx context.Context, t *kit.T, b broken) {
	l, options := probe(t, launch{}), []kit.Option{}
	if b.proxy {
		l = open(t, ruleOf(t.HTTP()))
	}
	good := t.Companion(ctx, whole(l))
	t.Control("Launch without the defect", launched(ctx, t, good).Error, kit.Be(""))
	good.Finish(ctx)

	if b.change != nil {
		b.change(&l)
	}
	if b.temp != nil {
		options = append(options, kit.WithEnv("TMPDIR="+b.temp(t)))
	}
	bad := t.Companion(ctx, whole(l), options...)
	t.Attempt("the calling program", bad.Finish(ctx), kit.Be(kit.Exit{}))
	t.Attempt("the error of Launch", launched(ctx, t, bad).Error, kit.Differ(""))
})
