package arapuca

import (
	"context"
	"os"

	"bridgecheck/fakes/attempt"
	"bridgecheck/suites/catalog"
	"bridgecheck/suites/kit"
)

var _ = kit.Check(catalog.Case{
	ID:     "ARA-004",
	Title:  "leaves a running sandbox alone when another is made",
	Must:   "A second New MUST leave a sandbox that runs alone.",
	Level:  catalog.Security,
	Clause: "13.4",
	Host:   []catalog.HostFact{catalog.HostUserNS},
	Faults: []string{"arapuca-new-kills"},
	Why:    "Read in the sources: what makes control groups first kills all processes in groups of the library's name below its own.",
}, func(ctx context.Context, t *kit.T) {
	more, enough := t.Dir("told")+"/more", t.Dir("told")+"/enough"
	p := t.Companion(ctx, order{[]step{
		{Do: "new", Box: "box"},
		begin(probe(t, launch{NetNS: true})),
		{Do: "await", Path: more},
		{Do: "new", Box: "second"},
		{Do: "await", Path: enough},
		{Do: "wait", Process: "agent"},
		{Do: "cleanup", Process: "agent"},
	}})
	t.Control("Launch", launched(ctx, t, p).Error, kit.Be(""))
	alive := attempt.Attempt{Op: attempt.OpSocket, Words: []uint64{1, 1, 0}} // AF_UNIX, SOCK_STREAM
	t.Control("the first sandbox answers", p.Agent.Do(ctx, alive), kit.Succeed())
	touch(t, more)
	t.Control("a second New", done(ctx, t, p, "new", 2).Error, kit.Be(""))
	t.Attempt("the first sandbox answers still", p.Agent.Do(ctx, alive), kit.Succeed())
	touch(t, enough)
	p.Finish(ctx)
	t.Attempt("its end", done(ctx, t, p, "wait", 1).words(), kit.Be("code 0"))
})

// touch makes a file that a step waits for.
func touch(t *kit.T, path string) {
	if err := os.WriteFile(path, nil, 0o644); err != nil {
		t.Fatal("make a file: %v", err)
	}
}
