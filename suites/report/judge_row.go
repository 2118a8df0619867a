package report

import (
	"fmt"
	"slices"

	"bridgecheck/suites/catalog"
)

// judgeRow judges one result by itself.
func (j *judge) judgeRow(c catalog.Case, f Facts, r Result) judged {
	cell := f.Cell.Name
	switch r.State {
	case Passed:
		return judgePassed(c, r)
	case Failed:
		return j.judgeFailed(c, r)
	case NotApplicable:
		return judged{outcome: NA, why: r.Reason}
	case Blocked:
		if fact, other := j.elsewhere(r); other != "" {
			return judged{outcome: NA, why: fmt.Sprintf("needs %s, which cell %s has", fact, other)}
		}
		return judged{outcome: BlockedHost, red: j.opts.Strict, why: r.Reason}
	case Moot:
		listed := slices.ContainsFunc(j.opts.Moot[cell], func(id string) bool {
			return id == c.ID || id == c.ID+"."+r.Row
		})
		why := r.Reason
		if !listed {
			why += " (cell " + cell + " does not list it as moot)"
		}
		return judged{outcome: MootDoor, red: !listed, why: why}
	case Errored:
		return judged{outcome: Error, red: true, why: r.Reason}
	}
	return judged{outcome: Error, red: true, why: fmt.Sprintf("the state %q is unknown", r.State)}
}

// elsewhere finds another cell of the run for a check that needs a privilege
// which this cell is without by design: an ordinary user is not root. Facts of
// the kernel are not looked up so; what one cell lacks there is a finding.
func (j *judge) elsewhere(r Result) (catalog.HostFact, string) {
	if r.Lacks != catalog.HostRoot && r.Lacks != catalog.HostTwoUIDs {
		return "", ""
	}
	for _, f := range j.facts {
		if f.Cell.Host[r.Lacks] != "" && selects(f, r.ID) {
			return r.Lacks, f.Cell.Name
		}
	}
	return "", ""
}

// judgePassed believes a pass only with its positive control and an attempt:
// without the first a dead lab looks like a refusal, without the second the
// check has shown that the lab works and nothing about the subject.
func judgePassed(c catalog.Case, r Result) judged {
	wrong := func(why string) judged { return judged{outcome: Error, red: true, why: why} }
	if r.Row != "" && !slices.Contains(c.Rows, r.Row) {
		return wrong(fmt.Sprintf("row %q is not declared in the check's literal", r.Row))
	}
	var control, attempt bool
	for _, s := range r.Steps {
		if !s.OK {
			return wrong("passed although a step did not hold: " + s.What)
		}
		control = control || s.Kind == "control"
		attempt = attempt || s.Kind != "control"
	}
	switch {
	case !control:
		return wrong("no positive control")
	case !attempt:
		return wrong("no attempt after the control")
	}
	return judged{outcome: Pass}
}

func (j *judge) judgeFailed(c catalog.Case, r Result) judged {
	why := r.Reason
	if why == "" {
		why = "failed without a reason"
	}
	for _, e := range j.opts.Baseline {
		if e.covers(c.ID, r.Row) {
			return judged{outcome: ExpectedFail, why: why}
		}
	}
	if c.Level == catalog.House && !j.opts.SubjectIsOurs {
		return judged{outcome: Fail, why: why + " (level H does not gate this subject)"}
	}
	return judged{outcome: Fail, red: true, why: why}
}

// missing are the declared rows of c that a shard selected and has no result
// for. A result for the whole check stands for all rows unless it passed: a
// passed check has to name each row it passed.
func (j *judge) missing(c catalog.Case, f Facts) []string {
	have := map[string]bool{}
	for _, r := range f.Results {
		if r.ID != c.ID {
			continue
		}
		if r.Row == "" && (r.State != Passed || len(c.Rows) == 0) {
			return nil
		}
		have[r.Row] = true
	}
	if len(c.Rows) == 0 {
		return []string{c.ID}
	}
	var missing []string
	for _, row := range c.Rows {
		if j.wants(c.ID, row) && !have[row] {
			missing = append(missing, c.ID+"."+row)
		}
	}
	return missing
}

// wants tells whether the selection covers the row.
func (j *judge) wants(id, row string) bool {
	return slices.ContainsFunc(j.opts.Selection, func(s string) bool {
		return s == id || s == id+"."+row
	})
}
