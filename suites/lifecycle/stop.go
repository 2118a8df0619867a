package lifecycle

import (
	"context"
	"strings"

	"bridgecheck/suites/catalog"
	"bridgecheck/suites/kit"
	"bridgecheck/suites/subject"
)

// insistence is a server's resistance, and the step that must end it.
type insistence struct {
	flags     []string
	how       string
	announced string // what it last had to say; "" when it was cut short
	grace     int    // ms: long where it must be enough, on a busy host too
}

var _ = kit.Table(catalog.Case{
	ID:     "LIF-005",
	Title:  "stops a server by end of input, then SIGTERM, then SIGKILL, and says which",
	Must:   "Stop MUST go end of input, SIGTERM, SIGKILL with bounded steps, and report which one ended the server.",
	Level:  catalog.Interoperability,
	Clause: "6.5",
	Needs:  []subject.Capability{subject.HostServers, subject.Events},
	Host:   []catalog.HostFact{catalog.HostUserNS},
	Faults: []string{"stop-skips-end-of-input", "stop-skips-sigterm"},
	Why:    "The specification's shutdown of stdio; a server that is killed at once loses what it has not written.",
}, []kit.Row[insistence]{
	{Name: "end-of-input", Value: insistence{how: "eof", announced: "eof", grace: 10_000}},
	{Name: "sigterm", Value: insistence{flags: []string{"--ignore-eof"}, how: "term", announced: "signal", grace: 1500}},
	{Name: "sigkill", Value: insistence{flags: []string{"--ignore-eof", "--ignore-term"}, how: "kill", grace: 200}},
}, func(ctx context.Context, t *kit.T, i insistence) {
	server := t.Server("worker", i.flags...)
	server.StopGraceMS = i.grace
	phase := t.Start(ctx, subject.Spec{Servers: []subject.Server{server}})
	t.Control("the phase runs", phase.Fate(ctx), kit.Be("the agent runs"))
	t.Control("times the server has stopped before", count(t.Announced("worker"), "stopped "), kit.BeNone())

	t.Attempt("the phase ends", phase.Finish(ctx), kit.Be(kit.Exit{}))
	t.Attempt("the step that ended the server", of(phase.Events(subject.EventServerStopped), "worker").How, kit.Be(i.how))
	t.FarSide("how the server itself ended", lastWord(t.Announced("worker")), kit.Be(i.announced))
	t.FarSide("processes that are left", t.Strays(), kit.BeNone())
})

// lastWord is how a server says that it ended, empty when it could not.
func lastWord(announced []string) string {
	for _, line := range announced {
		if fields := strings.Fields(line); len(fields) == 3 && fields[0] == "stopped" {
			return fields[2]
		}
	}
	return ""
}
