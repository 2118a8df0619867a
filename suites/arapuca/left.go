package arapuca

import (
	"context"
	"slices"
	"strings"
	"time"

	"bridgecheck/suites/catalog"
	"bridgecheck/suites/kit"
)

// until is how far a launch goes.
type until struct {
	change func(*launch)
	steps  []step
	fails  bool
}

var _ = kit.Table(catalog.Case{
	ID:     "ARA-008",
	Title:  "leaves nothing behind",
	Must:   "Nothing MUST be left after a failed Launch, after Wait without Cleanup, and after Cleanup: no process, no zombie, no socket, no directory.",
	Level:  catalog.Security,
	Clause: "13.8",
	Host:   []catalog.HostFact{catalog.HostUserNS},
	Faults: []string{"arapuca-leaves-proxy"},
	Why:    "Read in the sources: an error after the proxy has been forked leaves it; Wait leaves it until Cleanup, which does not wait for it.",
}, []kit.Row[until]{
	{Name: "launch-error", Value: until{change: func(l *launch) { l.Read = []string{"/a:b"} }, fails: true}},
	{Name: "wait", Value: until{steps: []step{{Do: "wait", Process: "agent"}}}},
	{Name: "cleanup", Value: until{steps: []step{{Do: "wait", Process: "agent"}, {Do: "cleanup", Process: "agent"}}}},
}, func(ctx context.Context, t *kit.T, u until) {
	seen, far := t.Dir("told")+"/seen", t.Echo()
	l := open(t, ruleOf(far))
	running := t.Companion(ctx, whole(l))
	t.Control("Launch", launched(ctx, t, running).Error, kit.Be(""))
	t.Control("while it runs there are processes", len(beside(t, running)), kit.Differ(0))
	running.Finish(ctx)

	if u.change != nil {
		u.change(&l)
	}
	steps := append([]step{{Do: "new", Box: "box"}, begin(l)}, u.steps...)
	steps = append(steps, step{Do: "close", Box: "box"}, step{Do: "await", Path: seen, TimeoutMS: 25_000})
	p := t.Companion(ctx, order{steps})
	t.Control("Launch fails", launched(ctx, t, p).Error != "", kit.Be(u.fails))
	p.Stdin.Close() // the probe ends
	t.Control("the calls have been made", done(ctx, t, p, "close", 1).Error, kit.Be(""))
	kit.Settle(ctx, 2*time.Second, func() bool { return len(beside(t, p))+len(p.TempFiles()) == 0 })
	t.FarSide("processes beside the calling program, which still runs", beside(t, p), kit.BeNone())
	t.FarSide("files in its TMPDIR", p.TempFiles(), kit.BeNone())
	touch(t, seen)
	t.Attempt("the calling program", p.Wait(ctx), kit.Be(kit.Exit{}))
})

// beside are the processes but the calling program's own.
func beside(t *kit.T, p *kit.Phase) []string {
	own := decimal(p.PID) + " "
	return slices.DeleteFunc(t.Strays(), func(line string) bool { return strings.HasPrefix(line, own) })
}
