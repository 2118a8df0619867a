package relay

import (
	"context"
	"fmt"
	"os"
	"time"

	"bridgecheck/fakes/upstream"
	"bridgecheck/suites/catalog"
	"bridgecheck/suites/kit"
	"bridgecheck/suites/subject"
)

// The numbers of RLY-007: so many connections one after the other, in turns, and
// so many at once.
const (
	inTurn = 1000
	turn   = 50
	atOnce = 200
)

var _ = kit.Table(catalog.Case{
	ID:     "RLY-007",
	Title:  "keeps nothing of connections that have ended",
	Must:   "1 000 short connections in a row and 200 at once, fewer where fewer are declared, MUST leave no process, no thread growth and no descriptor behind.",
	Level:  catalog.Interoperability,
	Clause: "4.7",
	Needs:  []subject.Capability{subject.NetNS},
	Host:   []catalog.HostFact{catalog.HostUserNS},
	Faults: []string{"relay-descriptor-leak", "tunnel-descriptor-leak"},
	Why:    "socat forks for each connection; a relay that forgets one descriptor for each lives for a thousand of them.",
}, lines(), func(ctx context.Context, t *kit.T, way lay) {
	l := way(ctx, t, upstream.RawEcho, subject.Spec{})
	l.opened(t, "first")
	l.agent.Close(ctx, "first")
	inTurn, turn, atOnce := inTurn, turn, atOnce
	if most := t.Subject().Limits.Connections; most > 0 {
		// What the agent has closed holds its place for a moment.
		turn, atOnce = max(1, min(turn, most/8)), max(1, min(atOnce, most/2))
		inTurn -= inTurn % turn
	}
	// Threads and pools come with the first load and stay.
	t.Control("connections at once", l.many(ctx, atOnce, ""), kit.Be(atOnce))
	before := l.settled(ctx, t, kept{})

	for range inTurn / turn {
		t.Attempt("short connections", l.many(ctx, turn, ""), kit.Be(turn))
	}
	t.Attempt("connections at once, again", l.many(ctx, atOnce, ""), kit.Be(atOnce))
	t.FarSide("connections at the server", l.far.Fence(), kit.Be(1+atOnce+inTurn+atOnce))
	after := l.settled(ctx, t, before)
	t.FarSide("descriptors beyond "+before.String(), max(0, after.descriptors-before.descriptors), kit.BeNone())
	t.FarSide("processes beyond "+before.String(), max(0, after.processes-before.processes), kit.BeNone())
	// A runtime keeps a few threads more or less, as the machine is busy; one kept
	// for each of so many connections would show.
	t.FarSide(fmt.Sprintf("threads more than %d beyond %s", spareThreads, before), max(0, after.threads-before.threads-spareThreads), kit.BeNone())
})

// spareThreads is far below the number of connections and above what a runtime
// adds by itself.
const spareThreads = 100

// kept is what a subject holds.
type kept struct{ processes, threads, descriptors int }

func (k kept) String() string {
	return fmt.Sprintf("%d processes, %d threads, %d descriptors", k.processes, k.threads, k.descriptors)
}

// settleBound is how long the ends of connections may be under way.
const settleBound = 6 * time.Second

// settled counts until there are no more processes and descriptors than there
// were; the first time, until their numbers have stopped to fall.
func (l *line) settled(ctx context.Context, t *kit.T, was kept) kept {
	ctx, cancel := context.WithTimeout(ctx, settleBound)
	defer cancel()
	pace := time.NewTicker(100 * time.Millisecond) // descriptors tell nobody of their end
	defer pace.Stop()
	for now := l.kept(t); ; {
		if was.descriptors > 0 && now.descriptors <= was.descriptors && now.processes <= was.processes {
			return now
		}
		select {
		case <-pace.C:
		case <-ctx.Done():
			return now
		}
		next := l.kept(t)
		if was.descriptors == 0 && next.descriptors >= now.descriptors && next.processes >= now.processes {
			return next
		}
		now = next
	}
}

func (l *line) kept(t *kit.T) kept {
	count := func(what string) int {
		entries, err := os.ReadDir(fmt.Sprintf("/proc/%d/%s", l.phase.PID, what))
		if err != nil {
			t.Fatal("count the subject's %ss: %v", what, err)
		}
		return len(entries)
	}
	return kept{len(t.Strays()), count("task"), count("fd")}
}
