package lifecycle

import (
	"context"
	"fmt"
	"os"

	"bridgecheck/suites/catalog"
	"bridgecheck/suites/kit"
	"bridgecheck/suites/subject"
)

// rounds of start and stop; the first of them are to fill what a subject keeps
// for good, as pollers and caches.
const (
	rounds  = 50
	warming = 10
)

var _ = kit.Check(catalog.Case{
	ID:     "LIF-013",
	Title:  "does not grow over 50 starts and stops",
	Must:   "50 start and stop rounds on one control stream MUST leave no growth in processes, descriptors and files.",
	Level:  catalog.Interoperability,
	Clause: "6.13",
	Needs:  []subject.Capability{subject.HostServers, subject.Control},
	Faults: []string{"descriptor-leaked-per-start"},
	Why:    "A session of a day restarts its servers hundreds of times.",
}, func(ctx context.Context, t *kit.T) {
	phase := t.Start(ctx, subject.Spec{Servers: []subject.Server{t.Server("again")}}, kit.WithControl(), kit.WithoutAgent())
	phase.Ready(ctx)
	var before holding
	for round := range rounds {
		if round == warming {
			before = held(t, phase)
		}
		t.Attempt(fmt.Sprintf("stop in round %d", round), phase.Control.Do(ctx, subject.Command{Op: "stop", Name: "again"}), kit.BeOK())
		t.Attempt(fmt.Sprintf("start in round %d", round), phase.Control.Do(ctx, subject.Command{Op: "start", Name: "again"}), kit.BeOK())
	}
	t.Control("starts that the server has seen", count(t.Announced("again"), "started ") > rounds, kit.Be(true))
	after := held(t, phase)
	t.FarSide("growth of processes from "+before.String(), max(0, after.processes-before.processes), kit.BeNone())
	t.FarSide("growth of files from "+before.String(), max(0, after.files-before.files), kit.BeNone())
	// One more than before may be on its way out.
	t.FarSide("growth of descriptors beyond one from "+before.String(), max(0, after.descriptors-before.descriptors-1), kit.BeNone())
	phase.Control.Do(ctx, subject.Command{Op: "quit"})
	t.Attempt("the subject ends", phase.Wait(ctx), kit.Be(kit.Exit{}))
})

// holding is what a subject holds.
type holding struct{ processes, descriptors, files int }

func (h holding) String() string {
	return fmt.Sprintf("%d processes, %d descriptors, %d files", h.processes, h.descriptors, h.files)
}

func held(t *kit.T, phase *kit.Phase) holding {
	descriptors, err := os.ReadDir(fmt.Sprintf("/proc/%d/fd", phase.PID))
	if err != nil {
		t.Fatal("count the subject's descriptors: %v", err)
	}
	return holding{len(t.Strays()), len(descriptors), len(phase.TempFiles())}
}
