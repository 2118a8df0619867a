package lifecycle

import (
	"context"
	"math/rand/v2"
	"os"
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
}, []kit.Row[string]{
	{Name: "mode", Value: subject.EventMode},
	{Name: "server-started", Value: subject.EventServerStarted},
	{Name: "ready", Value: subject.EventReady},
	{Name: "decision", Value: subject.EventDecision},
	{Name: "server-stopped", Value: subject.EventServerStopped},
	{Name: "random", Value: ""},
}, func(ctx context.Context, t *kit.T, event string) {
	if event == "" {
		random(ctx, t)
		return
	}
	phase := t.Start(ctx, worst(t))
	if event == subject.EventDecision {
		t.Control("the phase runs", phase.Fate(ctx), kit.Be("the agent runs"))
		phase.Agent.Connect(ctx, "undeclared.example.test:443")
	}
	if event == subject.EventServerStopped {
		t.Control("the phase runs", phase.Fate(ctx), kit.Be("the agent runs"))
		phase.Stdin.Close()
	}
	phase.AwaitEvent(ctx, event, nil)
	phase.Signal(syscall.SIGKILL)
	t.Control("the subject is killed", phase.Wait(ctx), kit.Be(kit.Exit{Signal: syscall.SIGKILL}))
	nothingLeft(ctx, t, phase)
})

// worst is a phase with every kind of server that might stay.
func worst(t *kit.T) subject.Spec {
	deaf := t.Server("deaf", "--ignore-eof", "--ignore-term")
	deaf.StopGraceMS = 300
	return subject.Spec{Servers: []subject.Server{
		deaf, t.Server("tree", "--ignore-eof", "--fork", "setsid", "--fork", "double", "--mark", t.Unique()),
		t.Server("slow", "--start-delay", "30ms"),
	}}
}

// kills is how often the bridge is killed at a moment of chance, within the time
// that a phase takes to come up.
const kills = 20

func random(ctx context.Context, t *kit.T) {
	chance := rand.New(rand.NewPCG(8, 8))
	busy := 0
	for range kills {
		phase := t.Start(ctx, worst(t))
		pause(ctx, time.Duration(chance.Int64N(int64(120*time.Millisecond))))
		if len(t.Strays()) > 1 || len(files(t, phase)) > 0 {
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
const leftBound = 10 * time.Second

// nothingLeft waits for the end of what was left at first.
func nothingLeft(ctx context.Context, t *kit.T, phase *kit.Phase) {
	for end := time.Now().Add(leftBound); time.Now().Before(end) && len(t.Strays())+len(files(t, phase)) > 0; {
		pause(ctx, 2*time.Millisecond)
	}
	t.FarSide("processes that are left", t.Strays(), kit.BeNone())
	t.FarSide("files that are left", files(t, phase), kit.BeNone())
}

func pause(ctx context.Context, d time.Duration) {
	select {
	case <-time.After(d):
	case <-ctx.Done():
	}
}

// files are those in the subject's temporary directory.
func files(t *kit.T, phase *kit.Phase) []string {
	entries, err := os.ReadDir(phase.Temp())
	if err != nil {
		t.Fatal("read %s: %v", phase.Temp(), err)
	}
	names := []string{}
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}
