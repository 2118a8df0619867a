package report

import (
	"maps"
	"slices"

	"bridgecheck/suites/catalog"
	"bridgecheck/suites/subject"
)

// checkRun finds what makes a run worthless whatever its results say.
func (j *judge) checkRun() {
	if len(j.opts.Selection) == 0 {
		j.problem("nothing was selected: no check has one of these ids, areas or profiles")
	}
	if len(j.facts) == 0 {
		j.problem("no facts: the suite ended before it wrote any")
	}
	for _, f := range j.facts {
		if !f.Finished {
			j.problem("cell %s: the run did not come to its end", f.Cell.Name)
		}
		j.checkShard(f)
	}
	for _, cell := range j.opts.Cells {
		if !slices.ContainsFunc(j.facts, func(f Facts) bool { return f.Cell.Name == cell }) {
			j.problem("cell %s: was to run and left no facts", cell)
		}
	}
	j.checkSelection()
	for _, e := range j.opts.Baseline {
		if !slices.ContainsFunc(j.opts.Registered, func(c catalog.Case) bool {
			return e.ID == c.ID || slices.ContainsFunc(c.Rows, func(row string) bool { return e.covers(c.ID, row) })
		}) {
			j.problem("baseline: there is no check %s, nor a row of that name", e.ID)
		}
	}
}

// checkShard demands that a shard speaks of the same subject as the others and
// only of checks that exist and were selected.
func (j *judge) checkShard(f Facts) {
	want := j.described()
	if f.Finished && (f.Subject.Name != want.Name || f.Subject.Name == "" || f.Subject.Double != want.Double ||
		!maps.Equal(f.Subject.Versions, want.Versions) || !sameClaims(f.Subject, want)) {
		j.problem("cell %s: the subject is %q, elsewhere in this run %q, or of other versions or claims",
			f.Cell.Name, f.Subject.Name, want.Name)
	}
	for _, r := range f.Results {
		switch {
		case !j.registered(r.ID):
			j.problem("cell %s: a result for %s, which no check has as its id", f.Cell.Name, r.ID)
		case !slices.ContainsFunc(f.Selected, func(id string) bool { return caseOf(id) == r.ID }):
			j.problem("cell %s: a result for %s, which was not selected there", f.Cell.Name, r.ID)
		}
	}
}

// sameClaims tells whether two descriptions claim the same, in whatever order.
func sameClaims(a, b subject.Description) bool {
	return slices.Equal(slices.Sorted(slices.Values(a.Capabilities)), slices.Sorted(slices.Values(b.Capabilities)))
}

// checkSelection demands that what was chosen was handed to some shard.
func (j *judge) checkSelection() {
	for _, id := range j.opts.Selection {
		if !j.registered(caseOf(id)) {
			j.problem("there is no check %s", id)
			continue
		}
		if len(j.facts) > 0 && !j.ofRun(caseOf(id)) && !slices.ContainsFunc(j.facts, func(f Facts) bool { return selects(f, caseOf(id)) }) {
			j.problem("%s was selected and given to no cell", id)
		}
	}
}

// checkRan refuses a run in which every check was skipped: it has shown nothing.
func (j *judge) checkRan(v Verdict) {
	if len(j.problems) > 0 {
		return
	}
	skipped := []Outcome{NotSelected, NA, MootDoor, BlockedHost}
	for _, c := range v.Cases {
		ran := func(r RowVerdict) bool { return !slices.Contains(skipped, r.Outcome) }
		if !slices.Contains(skipped, c.Outcome) || slices.ContainsFunc(c.Results, ran) {
			return
		}
	}
	j.problem("nothing ran: every selected check was skipped")
}

func (j *judge) registered(id string) bool {
	return slices.ContainsFunc(j.opts.Registered, func(c catalog.Case) bool { return c.ID == id })
}

// ofRun tells whether the check is judged here alone, and run nowhere.
func (j *judge) ofRun(id string) bool {
	return slices.ContainsFunc(j.opts.Registered, func(c catalog.Case) bool { return c.ID == id && c.OfRun })
}

func selects(f Facts, id string) bool {
	return slices.ContainsFunc(f.Selected, func(s string) bool { return caseOf(s) == id })
}
