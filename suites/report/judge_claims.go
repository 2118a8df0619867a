package report

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"bridgecheck/suites/catalog"
	"bridgecheck/suites/subject"
)

// wholeRun stands in the place of a cell where the run itself was judged.
const wholeRun = "whole run"

// claims compares what is claimed with what the checks that passed have used.
func (j *judge) claims(v Verdict) Claims {
	used := map[subject.Capability]bool{}
	for _, c := range v.Cases {
		if c.Outcome != Pass && c.Outcome != Mended {
			continue
		}
		for _, need := range j.uses(c.ID) {
			used[need] = true
		}
	}
	return Claims{Declared: j.described().Capabilities, Exercised: slices.Sorted(maps.Keys(used))}
}

// uses are the capabilities that a check has asked for, in any cell and row.
func (j *judge) uses(id string) []subject.Capability {
	var uses []subject.Capability
	for _, f := range j.facts {
		for _, r := range f.Results {
			if r.ID == id {
				uses = append(uses, r.Uses...)
			}
		}
	}
	return uses
}

// judgeClaims judges the check, a row for each capability, that a claim is more
// than a word: some check that uses it has passed. Only a full run can tell; a
// row that is chosen by name is judged by what was chosen with it.
func (j *judge) judgeClaims(c catalog.Case, v Verdict) CaseVerdict {
	cv := j.judgeCase(c)
	if !j.selected(c.ID) {
		return cv
	}
	var all judged
	for _, claim := range v.Claims.Declared {
		row := string(claim)
		named := slices.Contains(j.opts.Selection, c.ID+"."+row)
		if !slices.Contains(c.Rows, row) || !j.wants(c.ID, row) || !named && !j.full() {
			continue
		}
		r := j.judgeClaim(claim, v)
		r.ID, r.Row, r.At = c.ID, row, c.File
		one := j.judgeRow(c, Facts{Cell: Cell{Name: wholeRun}}, r)
		all = worse(all, one)
		cv.Results = append(cv.Results, RowVerdict{
			Row: row, Cell: wholeRun, Outcome: one.outcome, Red: one.red, Reason: one.why, Steps: r.Steps, At: r.At,
		})
	}
	if all.outcome == "" {
		all = judged{outcome: NA, why: "only a run of all checks can tell which claims are exercised"}
	}
	all = j.againstBaseline(&cv, all)
	cv.Outcome, cv.Red, cv.Reason = all.outcome, all.red, all.why
	cv.Rerun = "make verify SUBJECT=" + shellWord(j.subject().Arg)
	return cv
}

// full tells whether every check that has a body and needs no request was chosen,
// whole.
func (j *judge) full() bool {
	return !slices.ContainsFunc(j.opts.Registered, func(c catalog.Case) bool {
		return !c.OfRun && !c.OnRequest() && !slices.Contains(j.opts.Selection, c.ID)
	})
}

// judgeClaim is the result for one capability. Where this host could show none of
// the checks that use it, that is what is told.
func (j *judge) judgeClaim(claim subject.Capability, v Verdict) Result {
	var passed int
	var users, others []string
	blocked := true
	for _, c := range v.Cases {
		uses := slices.Contains(j.uses(c.ID), claim)
		switch {
		case c.Outcome == Pass || c.Outcome == Mended:
			if passed++; uses {
				users = append(users, c.ID)
			}
		case uses:
			others = append(others, fmt.Sprintf("%s %s", c.ID, c.Outcome))
			blocked = blocked && (c.Outcome == BlockedHost || c.Outcome == MootDoor)
		}
	}
	r := Result{State: Failed, Reason: fmt.Sprintf("%s is claimed, and no check that uses it has passed", claim)}
	got := "none: " + strings.Join(others, ", ")
	switch {
	case len(users) > 0:
		r.State, r.Reason, got = Passed, "", some(users)
	case len(others) == 0:
		got = "none, and no other one uses it with the other claims of this subject"
	case blocked:
		r.State, r.Reason = Blocked, "this host can show none of the checks that use it: "+strings.Join(others, ", ")
	}
	r.Steps = []Step{
		{Kind: "control", What: "checks of this run that passed", Want: "at least one", Got: fmt.Sprint(passed), OK: passed > 0},
		{Kind: "attempt", What: "those of them that use " + string(claim), Want: "at least one", Got: got, OK: r.State == Passed},
	}
	return r
}

// some names the first of many.
func some(ids []string) string {
	const most = 6
	if len(ids) <= most {
		return strings.Join(ids, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(ids[:most], ", "), len(ids)-most)
}
