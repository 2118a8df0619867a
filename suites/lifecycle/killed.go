package lifecycle

import (
	"context"
	"math/rand/v2"
	"syscall"
	"time"

	"bridgecheck/suites/catalog"
	"bridgecheck/suites/kit"
	"bridgecheck/suites/subject"
)

var _ = kit.Table(catalog.Case{
	ID:     "LIF-008",
	Title:  "leaves nothing when it is killed, at whatever moment",
	Must:   "SIGKILL of the bridge at any moment MUST leave nothing in the end: no agent, server, relay, socket, directory in the private TMPDIR, namespace.",
	Level:  catalog.Security,
	Clause: "6.8",
	Needs:  []subject.Capability{subject.HostServers, subject.Events},
	Host:   []catalog.HostFact{catalog.HostUserNS},
	Faults: []string{"orphans-after-sigkill", "runtime-directory-left"},
	Why:    "Out of memory, a cancelled job and a supervisor's patience all end in SIGKILL; what stays behind acts on with the user's credentials.",
}, []kit.Row[moment]{
	{Name: "mode", Value: moment{event: subject.EventMode}},
	{Name: "server-progress", Value: moment{event: subject.EventServerProgress, more: []string{"late", "--start-delay", "20s"}}},
	{Name: "server-started", Value: moment{event: subject.EventServerStarted}},
	{Name: "error", Value: moment{event: subject.EventError, more: []string{"bad", "--start-delay", "100ms", "--die-at-start", "3"}, late: true}},
	{Name: "ready", Value: moment{event: subject.EventReady}},
	{Name: "decision", Value: moment{event: subject.EventDecision, bring: func(ctx context.Context, _ *kit.T, p *kit.Phase, _ string) {
		p.Agent.Connect(ctx, "undeclared.example.test:443")
	}}},
	{Name: "server-exited", Value: moment{event: subject.EventServerExited, more: []string{"fragile", "--code", "9"}, bring: func(ctx context.Context, _ *kit.T, p *kit.Phase, _ string) {
		p.Agent.Call(ctx, "fragile", "die", map[string]any{})
	}}},
	{Name: "server-unhealthy", Value: moment{event: subject.EventServerUnhealthy, control: true, bring: func(ctx context.Context, t *kit.T, p *kit.Phase, slow string) {
		stop(ctx, t, slow)
		p.Control.Send(subject.Command{Op: "health", Name: "slow", TimeoutMS: 200})
	}}},
	{Name: "server-stopped", Value: moment{event: subject.EventServerStopped, bring: func(_ context.Context, _ *kit.T, p *kit.Phase, _ string) {
		p.Stdin.Close()
	}}},
	{Name: "random", Value: moment{}},
}, func(ctx context.Context, t *kit.T, m moment) {
	if m.event == "" {
		random(ctx, t)
		return
	}
	slow := t.Unique()
	spec, options := worst(t, slow), []kit.Option{}
	if m.more != nil {
		spec.Servers = append(spec.Servers, t.Server(m.more[0], m.more[1:]...))
	}
	if m.control {
		t.Require(subject.Control)
		options = append(options, kit.WithControl())
	}
	phase := t.Start(ctx, spec, options...)
	if m.bring != nil {
		t.Control("the phase runs", phase.Fate(ctx), kit.Be("the agent runs"))
		m.bring(ctx, t, phase, slow)
	}
	phase.AwaitEvent(ctx, m.event, nil)
	phase.Signal(syscall.SIGKILL)
	killed := phase.Wait(ctx)
	t.Control("the subject is killed", killed == kit.Exit{Signal: syscall.SIGKILL} || m.late && killed.Code != 0, kit.Be(true))
	nothingLeft(ctx, t, phase)
})

// moment is when the bridge is killed: as soon as it tells an event.
type moment struct {
	event   string
	more    []string // name and flags of one more server, which brings the event
	bring   func(ctx context.Context, t *kit.T, p *kit.Phase, slow string)
	control bool // the phase has a control stream
	late    bool // it may have ended by itself before
}

// worst is a phase with every kind of server that might stay; slow marks the one
// of them that is well-behaved.
func worst(t *kit.T, slow string) subject.Spec {
	deaf := t.Server("deaf", "--ignore-eof", "--ignore-term")
	deaf.StopGraceMS = 300
	return subject.Spec{Servers: []subject.Server{
		deaf, t.Server("tree", "--ignore-eof", "--fork", "setsid", "--fork", "double", "--mark", t.Unique()),
		t.Server("slow", "--start-delay", "30ms", "--mark", slow),
	}}
}

// kills is how often the bridge is killed at a moment of chance, within the time
// that a phase takes to come up on this host.
const kills = 20

func random(ctx context.Context, t *kit.T) {
	chance := rand.New(rand.NewPCG(8, 8))
	begun := time.Now()
	phase := t.Start(ctx, worst(t, t.Unique()))
	phase.AwaitEvent(ctx, subject.EventReady, nil)
	up := min(time.Since(begun), time.Second)
	phase.Signal(syscall.SIGKILL)
	phase.Wait(ctx)
	nothingLeft(ctx, t, phase)
	busy := 0
	for range kills {
		phase := t.Start(ctx, worst(t, t.Unique()))
		pause(ctx, time.Duration(chance.Int64N(int64(up))))
		if len(t.Strays()) > 1 || len(phase.TempFiles()) > 0 {
			busy++ // more than the subject's own process is there
		}
		phase.Signal(syscall.SIGKILL)
		phase.Wait(ctx)
		nothingLeft(ctx, t, phase)
	}
	t.Control("it was killed while it had processes or files", busy > kills/4, kit.Be(true))
}

// leftBound is how long something may be left of a bridge that was killed; what
// ends by itself ends in milliseconds.
const leftBound = 20 * time.Second

// nothingLeft waits for the end of what was left at first.
func nothingLeft(ctx context.Context, t *kit.T, phase *kit.Phase) {
	kit.Settle(ctx, leftBound, func() bool { return len(t.Strays())+len(phase.TempFiles()) == 0 })
	t.FarSide("processes that are left", t.Strays(), kit.BeNone())
	t.FarSide("files that are left", phase.TempFiles(), kit.BeNone())
}

func pause(ctx context.Context, d time.Duration) {
	select {
	case <-time.After(d):
	case <-ctx.Done():
	}
}
