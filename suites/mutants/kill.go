package mutants

import (
	"slices"

	"bridgecheck/suites/report"
)

// Kill is what one fault turned red.
type Kill struct {
	Name  string `yaml:"name"`
	Why   string `yaml:"why"`
	Named []Seen `yaml:"named"`          // the checks that must catch it
	Also  []Seen `yaml:"also,omitempty"` // others that are not green
	// Problem is why the fault could not be tried.
	Problem string `yaml:"problem,omitempty"`
	// Alone tells that this is what was seen with nothing else running: among
	// others the fault had been missed.
	Alone bool `yaml:"alone,omitempty"`
}

// Seen is the outcome of one check, or row.
type Seen struct {
	ID      string         `yaml:"id"`
	Outcome report.Outcome `yaml:"outcome"`
}

// Caught tells whether every check that names the fault failed. A check that
// ended as error or blocked has not caught anything.
func (k Kill) Caught() bool {
	return k.Problem == "" && len(k.Named) > 0 &&
		!slices.ContainsFunc(k.Named, func(s Seen) bool { return s.Outcome != report.Fail })
}

// Result is what became of all faults.
type Result struct {
	Full bool `yaml:"full"`
	// Control is the subject without a fault: every named check must pass on it,
	// or a red one says nothing about the fault.
	Control Kill   `yaml:"control"`
	Kills   []Kill `yaml:"kills"`
	// IDs are the checks that the faults met.
	IDs []string `yaml:"ids"`
}

// OK tells whether the control held and every fault was caught.
func (r Result) OK() bool {
	return r.Control.Problem == "" && len(r.Kills) > 0 &&
		!slices.ContainsFunc(r.Kills, func(k Kill) bool { return !k.Caught() })
}

func problem(v report.Verdict, err error) string {
	switch {
	case err != nil:
		return err.Error()
	case len(v.Problems) > 0:
		return "the verdict is invalid: " + v.Problems[0]
	}
	return ""
}

// outcome is that of a check, or the worst of one row of it.
func outcome(v report.Verdict, id string) report.Outcome {
	c, _ := v.Case(caseOf(id))
	if c.ID == id || c.ID == "" {
		if c.Outcome == "" {
			return report.NotSelected
		}
		return c.Outcome
	}
	worst := report.NotSelected
	for _, r := range c.Results {
		if id == c.ID+"."+r.Row {
			worst = report.Worst(worst, r.Outcome)
		}
	}
	return worst
}
