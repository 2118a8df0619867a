package lifecycle

import (
	"context"
	"slices"
	"syscall"

	"bridgecheck/fakes/attempt"
	"bridgecheck/suites/catalog"
	"bridgecheck/suites/kit"
	"bridgecheck/suites/subject"
)

// ending is a way to tell a phase to end.
type ending struct {
	signal  syscall.Signal
	op      string // on the control stream
	hangUp  bool   // end of the control stream
	ignores string // a signal that the agent ignores
}

var _ = kit.Table(catalog.Case{
	ID:     "LIF-007",
	Title:  "ends agent and servers when it is told to end",
	Must:   "Cancelling MUST end agent and servers within the grace; so MUST SIGINT and SIGTERM to the bridge.",
	Level:  catalog.Interoperability,
	Clause: "6.7",
	Needs:  []subject.Capability{subject.HostServers, subject.Events},
	Host:   []catalog.HostFact{catalog.HostUserNS},
	Faults: []string{"interrupt-unhandled"},
	Why:    "Ctrl-C is how most phases end.",
}, []kit.Row[ending]{
	{Name: "sigterm", Value: ending{signal: syscall.SIGTERM}},
	{Name: "sigint", Value: ending{signal: syscall.SIGINT}},
	{Name: "stubborn-agent", Value: ending{signal: syscall.SIGTERM, ignores: "SIGTERM"}},
	{Name: "quit", Value: ending{op: "quit"}},
	{Name: "control-ends", Value: ending{hangUp: true}},
}, func(ctx context.Context, t *kit.T, e ending) {
	var options []kit.Option
	if e.signal == 0 {
		t.Require(subject.Control)
		options = append(options, kit.WithControl())
	}
	mark := t.Unique()
	phase := t.Start(ctx, subject.Spec{Servers: []subject.Server{t.Server("tree", "--fork", "setsid", "--mark", mark)}}, options...)
	t.Control("the phase runs", phase.Fate(ctx), kit.Be("the agent runs"))
	t.Control("the server runs", withMark(t, mark), kit.Differ([]string{}))
	if e.ignores != "" {
		t.Control("the agent ignores the signal", phase.Agent.Do(ctx, attempt.Attempt{Op: attempt.OpIgnore, Call: e.ignores}), kit.Succeed())
	}

	switch {
	case e.hangUp:
		phase.Control.Close()
	case e.op != "":
		phase.Control.Send(subject.Command{Op: e.op})
	default:
		phase.Signal(e.signal)
	}
	exit := phase.Wait(ctx)
	// The probe ends by the signal that reaches it, or by end of input.
	told := []kit.Exit{{}, {Code: 128 + int(syscall.SIGTERM)}, {Code: 128 + int(syscall.SIGINT)}, {Code: 128 + int(syscall.SIGKILL)}}
	t.Attempt("the subject ends, and not of the signal itself: "+exit.String(), slices.Contains(told, exit), kit.Be(true))
	t.Attempt("exit events", len(phase.Events(subject.EventExit)), kit.Be(1))
	t.FarSide("processes that are left", t.Strays(), kit.BeNone())
})
