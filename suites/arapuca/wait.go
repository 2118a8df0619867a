package arapuca

import (
	"context"

	"bridgecheck/fakes/attempt"
	"bridgecheck/suites/catalog"
	"bridgecheck/suites/kit"
)

// end is an order to the probe, and what the caller of Wait must be able to tell.
type end struct {
	order attempt.Attempt
	told  string
}

var _ = kit.Table(catalog.Case{
	ID:     "ARA-002",
	Title:  "tells a code and a signal apart",
	Must:   "Wait MUST let its caller tell how the process ended; a death by signal MUST never look like code 0, nor like an error of the library.",
	Level:  catalog.Interoperability,
	Clause: "13.2",
	Host:   []catalog.HostFact{catalog.HostUserNS},
	Faults: []string{"arapuca-loses-signal"},
	Why:    "Read in the sources: a death by signal is code 0 and an error that names the signal, and the C interface has -1 for both SIGHUP and a failure.",
}, []kit.Row[end]{
	{Name: "code-7", Value: end{attempt.Attempt{Code: 7}, "code 7"}},
	{Name: "code-137", Value: end{attempt.Attempt{Code: 137}, "code 137"}},
	{Name: "sighup", Value: end{attempt.Attempt{Call: "SIGHUP"}, "signal 1"}},
	{Name: "sigkill", Value: end{attempt.Attempt{Call: "SIGKILL"}, "signal 9"}},
	{Name: "sigsegv", Value: end{attempt.Attempt{Call: "SIGSEGV"}, "signal 11"}},
	{Name: "sigterm", Value: end{attempt.Attempt{Call: "SIGTERM"}, "signal 15"}},
}, func(ctx context.Context, t *kit.T, e end) {
	well := t.Companion(ctx, whole(probe(t, launch{})))
	t.Control("Launch", launched(ctx, t, well).Error, kit.Be(""))
	well.Finish(ctx)
	t.Control("a process that ends well", done(ctx, t, well, "wait", 1).words(), kit.Be("code 0"))

	e.order.Op = attempt.OpExit
	p := t.Companion(ctx, whole(probe(t, launch{})))
	t.Control("the process is told to end", p.Agent.Do(ctx, e.order), kit.Succeed())
	t.Attempt("what Wait tells", done(ctx, t, p, "wait", 1).words(), kit.Be(e.told))
})

var _ = kit.Table(catalog.Case{
	ID:     "ARA-003",
	Title:  "ends everything when the context does",
	Must:   "Cancelling the context MUST end the whole sandbox, with and without UsePidNS.",
	Level:  catalog.Security,
	Clause: "13.3",
	Host:   []catalog.HostFact{catalog.HostUserNS},
	Faults: []string{"arapuca-ignores-cancel"},
	Why:    "Read in the sources: the signal goes to the process group of a process that, with UsePidNS, leads none.",
}, []kit.Row[launch]{
	{Name: "plain", Value: launch{NetNS: true}},
	{Name: "pidns", Value: launch{NetNS: true, PIDNS: true}},
}, func(ctx context.Context, t *kit.T, l launch) {
	over := t.Dir("told") + "/cancel"
	p := t.Companion(ctx, order{[]step{
		{Do: "new", Box: "box"},
		begin(probe(t, l)),
		{Do: "await", Path: over},
		{Do: "cancel", Process: "agent"},
		{Do: "wait", Process: "agent", TimeoutMS: 5000},
		{Do: "cleanup", Process: "agent"},
	}})
	t.Control("Launch", launched(ctx, t, p).Error, kit.Be(""))
	stubborn := p.Agent.Do(ctx, attempt.Attempt{Op: attempt.OpSpawn, Args: []string{"double-fork"}, Count: 2})
	t.Control("it has descendants of its own", stubborn, kit.Succeed())
	t.Control("and ignores SIGTERM", p.Agent.Do(ctx, attempt.Attempt{Op: attempt.OpIgnore, Call: "SIGTERM"}), kit.Succeed())
	touch(t, over)
	t.Attempt("what Wait tells", done(ctx, t, p, "wait", 1).words(), kit.Be("signal 9"))
	p.Wait(ctx)
	t.FarSide("processes that are left", t.Strays(), kit.BeNone())
})
