package report

import (
	"fmt"
	"slices"
	"strings"

	"bridgecheck/suites/catalog"
)

// judgeCase is the worst over rows and cells.
func (j *judge) judgeCase(c catalog.Case) CaseVerdict {
	cv := CaseVerdict{
		ID: c.ID, Title: c.Title, Must: c.Must, Clause: c.Clause, Level: c.Level,
		Needs: c.Needs, Faults: c.Faults, Why: c.Why, Outcome: NotSelected,
	}
	if c.OfRun || !j.selected(c.ID) {
		return cv
	}
	var all judged
	for _, f := range j.facts {
		if !selects(f, c.ID) {
			continue
		}
		for _, r := range f.Results {
			if r.ID != c.ID {
				continue
			}
			row := j.judgeRow(c, f, r)
			all = worse(all, row)
			cv.Results = append(cv.Results, RowVerdict{
				Row: r.Row, Cell: f.Cell.Name, Outcome: row.outcome, Red: row.red, Reason: row.why,
				Levels: r.Levels, Steps: r.Steps, At: r.At, TookMS: r.TookMS, Evidence: r.Evidence,
			})
		}
		if gone := j.missing(c, f); len(gone) > 0 {
			why := fmt.Sprintf("cell %s: %s was to run and left no result", f.Cell.Name, strings.Join(gone, ", "))
			j.problems = append(j.problems, why)
			all = worse(all, judged{outcome: Invalid, red: true, why: why})
		}
	}
	if all.outcome == "" {
		all = judged{outcome: Invalid, red: true, why: "selected, and no cell has a result"}
	}
	all = j.againstBaseline(&cv, all)
	cv.Outcome, cv.Red, cv.Reason = all.outcome, all.red, all.why
	cv.Rerun = fmt.Sprintf("make case ID=%s SUBJECT=%s", c.ID, shellWord(j.subject().Arg))
	return cv
}

func (j *judge) selected(id string) bool {
	return slices.ContainsFunc(j.opts.Selection, func(s string) bool { return caseOf(s) == id })
}

// againstBaseline notes the entries that speak of the check and finds those that
// no longer fail anywhere: they would hide the next failure.
func (j *judge) againstBaseline(cv *CaseVerdict, all judged) judged {
	var notes []string
	for _, e := range j.opts.Baseline {
		if caseOf(e.ID) != cv.ID {
			continue
		}
		notes = append(notes, e.text())
		var ran, fails bool
		for _, r := range cv.Results {
			if e.covers(cv.ID, r.Row) {
				ran = ran || r.Outcome == Pass
				fails = fails || r.Outcome != Pass && r.Outcome != NA && r.Outcome != MootDoor
			}
		}
		switch {
		case !ran || fails || !j.whole(e):
		case j.opts.Gate:
			all = worse(all, judged{outcome: Mended, why: e.ID + " passes; it was expected to fail, and can go from the baseline: " + e.text()})
		default:
			all = worse(all, judged{outcome: Stale, red: true, why: e.ID + " passes; remove it from the baseline: " + e.text()})
		}
	}
	cv.Baseline = strings.Join(notes, "; ")
	return all
}

// whole tells whether all that the entry speaks of was run: what was left out may
// be what fails.
func (j *judge) whole(e Expected) bool {
	return slices.Contains(j.opts.Selection, e.ID) || slices.Contains(j.opts.Selection, caseOf(e.ID))
}

// shellWord quotes s for a shell when it is more than a plain word.
func shellWord(s string) string {
	plain := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("._-/+:@,", r)
	}
	if s != "" && strings.IndexFunc(s, func(r rune) bool { return !plain(r) }) < 0 {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}
