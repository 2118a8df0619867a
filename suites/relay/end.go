package relay

import (
	"context"
	"syscall"

	"bridgecheck/fakes/upstream"
	"bridgecheck/suites/catalog"
	"bridgecheck/suites/kit"
	"bridgecheck/suites/subject"
)

var _ = kit.Table(catalog.Case{
	ID:     "RLY-009",
	Title:  "ends the relay with the agent, and with a launcher that is killed",
	Must:   "The relay MUST end when the agent ends, and when the launcher is killed; the socket files and their directory MUST be gone.",
	Level:  catalog.Interoperability,
	Clause: "4.9",
	Needs:  []subject.Capability{subject.NetNS, subject.HostServers},
	Host:   []catalog.HostFact{catalog.HostUserNS},
	Faults: []string{"runtime-directory-left"},
	Why:    "A relay that outlives its phase is an open door with nobody behind it.",
}, []kit.Row[bool]{
	{Name: "agent-ends", Value: false},
	{Name: "launcher-killed", Value: true},
}, func(ctx context.Context, t *kit.T, kill bool) {
	way := claimed(t)[len(claimed(t))-1] // the raw relay, where there is one
	l := way.Value(ctx, t, upstream.Silent, subject.Spec{Servers: []subject.Server{t.Server("behind")}})
	l.opened(t, "line")
	l.agent.Send(ctx, "line", []byte("x"))
	t.Control("the subject's processes", t.Strays(), kit.Differ([]string{}))
	t.Await(ctx, "the server gets the agent's byte", func() bool { return last(l.far).Bytes == 1 })
	t.Control("the connection at the server has ended", last(l.far).Ended, kit.Be(false))

	if kill {
		l.phase.Signal(syscall.SIGKILL)
		t.Attempt("the launcher is gone", l.phase.Wait(ctx), kit.Be(kit.Exit{Signal: syscall.SIGKILL}))
		t.Await(ctx, "no process is left", func() bool { return len(t.Strays()) == 0 })
		t.Await(ctx, "no file is left", func() bool { return len(l.phase.TempFiles()) == 0 })
	} else {
		t.Attempt("the phase ends", l.phase.Finish(ctx), kit.Be(kit.Exit{}))
	}
	t.FarSide("processes that are left", t.Strays(), kit.BeNone())
	t.FarSide("files that are left", l.phase.TempFiles(), kit.BeNone())
	t.Await(ctx, "the connection at the server ends", func() bool { return last(l.far).Ended })
})
