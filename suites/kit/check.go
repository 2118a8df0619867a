package kit

import (
	"context"
	"fmt"
	"runtime"
	"slices"
	"time"

	"github.com/onsi/ginkgo/v2"
	"github.com/onsi/ginkgo/v2/types"

	"bridgecheck/suites/catalog"
)

// Body is what a check does. It runs with t only; t is not valid after it.
type Body func(ctx context.Context, t *T)

// Row is one row of a table: its name is part of the check's id.
type Row[V any] struct {
	Name  string
	Value V
}

type check struct {
	Case catalog.Case
	row  string
	at   types.CodeLocation
	body Body
}

var checks []check

// Check registers a check. It is called from a package variable of an area.
func Check(c catalog.Case, body Body) bool {
	at := caller()
	c.File = inRepository(at)
	catalog.Register(c)
	checks = append(checks, check{Case: c, at: at, body: body})
	return true
}

// Table registers a check with one body and a row for each value.
func Table[V any](c catalog.Case, rows []Row[V], body func(ctx context.Context, t *T, value V)) bool {
	for _, r := range rows {
		if slices.Contains(c.Rows, r.Name) {
			panic(fmt.Errorf("case %s: row %s stands twice", c.ID, r.Name))
		}
		c.Rows = append(c.Rows, r.Name)
	}
	at := caller()
	c.File = inRepository(at)
	catalog.Register(c)
	for _, r := range rows {
		checks = append(checks, check{Case: c, row: r.Name, at: at, body: func(ctx context.Context, t *T) {
			body(ctx, t, r.Value)
		}})
	}
	return true
}

// OfRun registers a check without a body: it is judged by what the other checks
// of the run have shown.
func OfRun(c catalog.Case) bool {
	c.File, c.OfRun = inRepository(caller()), true
	catalog.Register(c)
	return true
}

// caller is the place of the literal: the frame above Check, Table or OfRun.
func caller() types.CodeLocation {
	_, file, line, _ := runtime.Caller(2)
	return types.CodeLocation{FileName: file, LineNumber: line}
}

// id is the full id: AREA-NNN or AREA-NNN.row.
func (c check) id() string {
	if c.row == "" {
		return c.Case.ID
	}
	return c.Case.ID + "." + c.row
}

// cap is how long the check may take.
func (c check) cap() time.Duration {
	if c.Case.OnRequest() {
		return toolsCap
	}
	return specCap
}

// Patience is how long to watch a stream that must not be ended.
func (t *T) Patience() time.Duration { return max(t.run.cfg.Patience, 3*time.Second) }

// in tells whether the check, or this row of it, is selected.
func (c check) in(ids []string) bool {
	return slices.Contains(ids, c.Case.ID) || slices.Contains(ids, c.id())
}

// declare turns the selected checks into Ginkgo specs. It runs once, before
// RunSpecs.
func (r *run) declare() {
	for _, c := range checks {
		if !c.in(r.cfg.Select) {
			continue
		}
		ginkgo.It(c.id()+" "+c.Case.Title, ginkgo.Label(append(c.Case.Labels(), "id:"+c.Case.ID)...), c.at, ginkgo.SpecTimeout(c.cap()+r.cfg.Patience),
			func(ctx ginkgo.SpecContext) { r.execute(ctx, c) })
	}
}
