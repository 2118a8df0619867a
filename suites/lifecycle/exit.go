package lifecycle

import (
	"context"
	"os"
	"syscall"

	"bridgecheck/fakes/attempt"
	"bridgecheck/suites/catalog"
	"bridgecheck/suites/kit"
	"bridgecheck/suites/subject"
)

// end is how the agent ends, and what must be told of it.
type end struct {
	order  attempt.Attempt // to the probe
	exit   int             // of the subject
	code   int             // of the event, unless signal is set
	signal string
	// spec makes a phase whose agent never runs, told ends it before that.
	spec func(*kit.T) subject.Spec
	told syscall.Signal
}

var _ = kit.Table(catalog.Case{
	ID:     "LIF-010",
	Title:  "tells truly how the agent ended",
	Must:   "The agent's exit MUST be told truly, as a code or as a signal; never code 0 for a killed agent. 125 is the bridge's own failure, 126 and 127 as in a shell.",
	Level:  catalog.Interoperability,
	Clause: "6.10",
	Needs:  []subject.Capability{subject.Events},
	Host:   []catalog.HostFact{catalog.HostUserNS},
	Faults: []string{"signal-told-as-0", "unstarted-told-as-0"},
	Why:    "A job that was killed for its memory and reported 0 has passed in CI.",
}, []kit.Row[end]{
	{Name: "code-0", Value: end{exit: 0}},
	{Name: "code-7", Value: end{order: attempt.Attempt{Code: 7}, exit: 7, code: 7}},
	{Name: "code-255", Value: end{order: attempt.Attempt{Code: 255}, exit: 255, code: 255}},
	{Name: "sigkill", Value: end{order: attempt.Attempt{Call: "SIGKILL"}, exit: 128 + int(syscall.SIGKILL), signal: "SIGKILL"}},
	{Name: "sigterm", Value: end{order: attempt.Attempt{Call: "SIGTERM"}, exit: 128 + int(syscall.SIGTERM), signal: "SIGTERM"}},
	{Name: "sigsegv", Value: end{order: attempt.Attempt{Call: "SIGSEGV"}, exit: 128 + int(syscall.SIGSEGV), signal: "SIGSEGV"}},
	{Name: "missing", Value: end{spec: missing, exit: 127, code: 127}},
	{Name: "not-executable", Value: end{spec: unexecutable, exit: 126, code: 126}},
	{Name: "own-failure", Value: end{spec: badServer, exit: 125, code: 125}},
	{Name: "before-agent", Value: end{spec: lateServer, told: syscall.SIGTERM, exit: 128 + int(syscall.SIGTERM), signal: "SIGTERM"}},
}, func(ctx context.Context, t *kit.T, e end) {
	e.order.Op = attempt.OpExit
	phase := t.Start(ctx, subject.Spec{})
	t.Control("an agent is told to end", phase.Agent.Do(ctx, e.order), kit.Succeed())
	if e.spec != nil {
		t.Control("an agent that can run", phase.Wait(ctx), kit.Be(kit.Exit{}))
		phase = t.Start(ctx, e.spec(t))
	}
	if e.told != 0 {
		t.Await(ctx, "a server is being started", func() bool { return len(t.Announced("late")) > 0 })
		phase.Signal(e.told)
	}
	t.Attempt("the subject's exit", phase.Wait(ctx), kit.Be(kit.Exit{Code: e.exit}))
	told(t, phase, e.code, e.signal)
})

// told compares the exit event.
func told(t *kit.T, phase *kit.Phase, code int, signal string) {
	exits := phase.Events(subject.EventExit)
	t.Attempt("exit events", len(exits), kit.Be(1))
	t.Attempt("the signal of the event", exits[0].Signal, kit.Be(signal))
	if signal != "" {
		t.Attempt("the event gives no code beside the signal", exits[0].Code == nil, kit.Be(true))
		return
	}
	t.Attempt("the code of the event", exits[0].Code, kit.Be(&code))
}

func missing(t *kit.T) subject.Spec {
	return subject.Spec{Agent: &subject.Agent{Path: t.Dir("agent") + "/nowhere"}}
}

func unexecutable(t *kit.T) subject.Spec {
	path := t.Dir("agent") + "/program"
	if err := os.WriteFile(path, []byte("text\n"), 0o644); err != nil {
		t.Fatal("make file: %v", err)
	}
	return subject.Spec{Agent: &subject.Agent{Path: path}}
}

func badServer(t *kit.T) subject.Spec {
	t.Require(subject.HostServers)
	return subject.Spec{Servers: []subject.Server{t.Server("bad", "--die-at-start", "3")}}
}

// lateServer keeps the agent from starting for longer than the check takes.
func lateServer(t *kit.T) subject.Spec {
	t.Require(subject.HostServers)
	return subject.Spec{Servers: []subject.Server{t.Server("late", "--start-delay", "20s")}}
}
