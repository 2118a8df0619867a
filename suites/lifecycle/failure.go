package lifecycle

import (
	"context"

	"bridgecheck/suites/catalog"
	"bridgecheck/suites/kit"
	"bridgecheck/suites/subject"
)

// broken is a way for a server not to come up.
type broken struct {
	flags   []string
	command string // in place of the fake's own
	cause   string // part of the reason
	stderr  string // part of the last lines, as far as the server wrote any
}

var _ = kit.Table(catalog.Case{
	ID:     "LIF-003",
	Title:  "fails the start with the server that failed, and stops the others",
	Must:   "A server that fails to start MUST fail the start with its name, the cause and its last stderr lines; everything already started MUST be stopped again.",
	Level:  catalog.Interoperability,
	Clause: "6.3",
	Needs:  []subject.Capability{subject.HostServers, subject.Events},
	Host:   []catalog.HostFact{catalog.HostUserNS},
	Faults: []string{"no-rollback", "start-error-without-stderr"},
	Why:    "\"Connection closed\" is what clients show of a missing API key; the server's own line said so.",
}, []kit.Row[broken]{
	{Name: "missing", Value: broken{command: "/nowhere/mcp-server", cause: "/nowhere/mcp-server"}},
	{Name: "exits", Value: broken{flags: []string{"--start-delay", "150ms", "--die-at-start", "7"}, cause: "7", stderr: "bad: cannot start, exiting with 7"}},
	{Name: "silent", Value: broken{flags: []string{"--mute", "--stderr-bytes", "100"}, stderr: "a line of log that nobody asked for"}},
	{Name: "garbage", Value: broken{flags: []string{"--mute", "--garbage-forever"}}},
}, func(ctx context.Context, t *kit.T, b broken) {
	good := t.Server("good", "--fork", "setsid", "--mark", t.Unique())
	alone := t.Start(ctx, subject.Spec{Servers: []subject.Server{good}})
	t.Control("the good server alone", alone.Fate(ctx), kit.Be("the agent runs"))
	alone.Finish(ctx)

	bad := t.Server("bad", b.flags...)
	bad.StartTimeoutMS = 1500
	if b.command != "" {
		bad.Command = b.command
	}
	phase := t.Start(ctx, subject.Spec{
		Servers: []subject.Server{good, bad}, Limits: &subject.Limits{GarbageLines: 20},
	})
	t.Attempt("the start with the bad one", phase.Fate(ctx), kit.Be("exit code 125"))
	failure := of(phase.Events(subject.EventError), "bad")
	t.Attempt("the error event that names it", failure.Reason, kit.Differ(""))
	t.Attempt("the cause that it gives", failure.Reason, kit.Contain(b.cause))
	t.Attempt("the server's last lines", failure.StderrTail, kit.Contain(b.stderr))
	t.Attempt("servers started and never told as stopped", unstopped(phase), kit.BeNone())
	t.FarSide("processes that are left", t.Strays(), kit.BeNone())
})

// unstopped are the servers with a server-started event and neither a
// server-stopped nor a server-exited one.
func unstopped(phase *kit.Phase) []string {
	names := []string{}
	for _, e := range phase.Events(subject.EventServerStarted) {
		stopped := append(phase.Events(subject.EventServerStopped), phase.Events(subject.EventServerExited)...)
		if of(stopped, e.Server).Server == "" {
			names = append(names, e.Server)
		}
	}
	return names
}
