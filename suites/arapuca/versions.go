package arapuca

import (
	"context"

	"bridgecheck/suites/catalog"
	"bridgecheck/suites/kit"
)

var _ = kit.Check(catalog.Case{
	ID:     "ARA-011",
	Title:  "says when library and program are of two versions",
	Must:   "The library and the program arapuca MUST be of one version, or Launch MUST say that they are not.",
	Level:  catalog.Interoperability,
	Clause: "13.11",
	Host:   []catalog.HostFact{catalog.HostUserNS},
	Faults: []string{"arapuca-skew"},
	Why:    "Read in the sources: the program is found in PATH and never asked; what it does not know of the library's variables it ignores. A Go side that is newer than the library shows when it is linked.",
}, func(ctx context.Context, t *kit.T) {
	o := whole(probe(t, launch{}))
	o.Steps = append([]step{{Do: "versions"}}, o.Steps...)
	p := t.Companion(ctx, o)
	said := launched(ctx, t, p).Error
	p.Finish(ctx)
	versions := done(ctx, t, p, "versions", 1).Versions
	t.Control("the version of the program arapuca", versions["arapuca"], kit.Differ(""))
	if versions["libarapuca"] == "" {
		t.NotApplicable("the build has not told the version of libarapuca")
	}
	if said != "" {
		t.Attempt("what Launch says", said, kit.Contain("version"))
		return
	}
	t.Attempt("the version of libarapuca", versions["libarapuca"], kit.Be(versions["arapuca"]))
})
