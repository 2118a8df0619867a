package lifecycle

import (
	"context"

	"bridgecheck/suites/catalog"
	"bridgecheck/suites/kit"
	"bridgecheck/suites/subject"
)

var _ = kit.Check(catalog.Case{
	ID:     "LIF-006",
	Title:  "answers every start and stop that makes no sense with a defined result",
	Must:   "Start of a running name, stop of an unknown name, stop twice and stop-all twice MUST have defined results; stop-all MUST go on after one failure and report all.",
	Level:  catalog.Interoperability,
	Clause: "6.6",
	Needs:  []subject.Capability{subject.HostServers, subject.Control},
	Faults: []string{"double-start", "stop-all-reports-one"},
	Why:    "A second start of a name that lost the first process is where orphans come from.",
}, func(ctx context.Context, t *kit.T) {
	stubborn := t.Server("stubborn", "--ignore-eof", "--ignore-term")
	stubborn.StopGraceMS = 100
	phase := t.Start(ctx, subject.Spec{Servers: []subject.Server{
		stubborn, t.Server("good"), t.Server("fragile"),
	}}, kit.WithControl(), kit.WithoutAgent())
	phase.Ready(ctx)
	do := func(op, name string) subject.Reply {
		return phase.Control.Do(ctx, subject.Command{Op: op, Name: name})
	}
	t.Control("health of a server that runs", do("health", "good"), kit.BeOK())
	t.Attempt("start of a running name", do("start", "good").Reason, kit.Be("already-running"))
	t.FarSide("processes that the name ever had", count(t.Announced("good"), "started "), kit.Be(1))
	t.Attempt("stop of an unknown name", do("stop", "nobody").Reason, kit.Be("unknown-server"))
	t.Attempt("start of an unknown name", do("start", "nobody").Reason, kit.Be("unknown-server"))
	t.Attempt("stop", do("stop", "good"), kit.BeOK())
	t.Attempt("stop once more", do("stop", "good").Reason, kit.Be("not-running"))
	t.Attempt("health of a stopped server", do("health", "good").Reason, kit.Be("not-running"))
	t.Attempt("start of a stopped name", do("start", "good"), kit.BeOK())

	all := do("stop-all", "")
	t.Attempt("stop-all", all, kit.BeOK())
	t.Attempt("the step that ended each, of stop-all", steps(all), kit.Be(map[string]string{"stubborn": "kill", "good": "eof", "fragile": "eof"}))
	again := do("stop-all", "")
	t.Attempt("stop-all once more", again, kit.BeOK())
	t.Attempt("servers that it stopped", again.Results, kit.BeNone())
	t.Attempt("quit", do("quit", ""), kit.BeOK())
	t.Attempt("the subject ends", phase.Wait(ctx), kit.Be(kit.Exit{}))
	t.FarSide("processes that are left", t.Strays(), kit.BeNone())
})

func steps(r subject.Reply) map[string]string {
	how := map[string]string{}
	for _, one := range r.Results {
		how[one.Name] = one.How + one.Reason
	}
	return how
}
