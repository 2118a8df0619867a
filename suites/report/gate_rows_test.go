package report

import (
	"strings"
	"testing"

	"bridgecheck/suites/catalog"
	"bridgecheck/suites/subject"
)

// rows is a run of one check with an outcome for each row.
func rows(outcomes ...Outcome) []Verdict {
	c := CaseVerdict{ID: "ALW-012", Title: "dials no special address", Level: catalog.Security, Outcome: NotSelected}
	for i, o := range outcomes {
		if o != NotSelected {
			c.Results = append(c.Results, RowVerdict{Row: []string{"cgnat", "loopback", "metadata"}[i], Cell: "user", Outcome: o})
		}
		c.Outcome = Worst(c.Outcome, o)
	}
	return []Verdict{{Subject: Subject{Name: "s"}, Cases: []CaseVerdict{c}}}
}

// TestGateByRows: what is known of one row hides nothing of another.
func TestGateByRows(t *testing.T) {
	for name, tt := range map[string]struct {
		base, head []Verdict
		says       []string
		exit       int
	}{
		"all green":                   {rows(Pass, Pass), rows(Pass, Pass), []string{"1 of the checks are the same"}, 0},
		"another row was red":         {rows(Fail, Pass, Pass), rows(Fail, Fail, Fail), []string{"### Broken", "(loopback, metadata)", "### Red before", "(cgnat)"}, 1},
		"another row is in baseline":  {rows(ExpectedFail, Pass), rows(ExpectedFail, Fail), []string{"### Broken", "(loopback)"}, 1},
		"another row is blocked":      {rows(BlockedHost, Pass), rows(BlockedHost, Fail), []string{"### Broken", "### Cannot be judged"}, 1},
		"a row is no longer claimed":  {rows(Pass, Pass), rows(Pass, NA), []string{"### No longer claimed", "(loopback)"}, 1},
		"a row is blocked now":        {rows(Pass, Pass), rows(Pass, BlockedHost), []string{"### Cannot be judged"}, 4},
		"a row is gone":               {rows(Pass, Pass), rows(Pass, NotSelected), []string{"### Cannot be judged"}, 4},
		"a row is new and green":      {rows(Pass, NotSelected), rows(Pass, Pass), []string{"### Cannot be judged"}, 0},
		"a row is new and red":        {rows(Pass, NotSelected), rows(Pass, Fail), []string{"### Cannot be judged"}, 4},
		"one mended, one broken":      {rows(Fail, Pass), rows(Pass, Fail), []string{"### Broken", "(loopback)", "### Mended", "(cgnat)"}, 1},
		"all rows are red after":      {rows(Pass, Pass), rows(Fail, Fail), []string{"### Broken"}, 1},
		"a row flips":                 {append(rows(Pass, Pass), rows(Pass, Pass)...), append(rows(Pass, Fail), rows(Pass, Pass)...), []string{"### Broken", "### Flips"}, 1},
		"not claimed at all any more": {rows(Pass, Pass), []Verdict{{Cases: []CaseVerdict{{ID: "ALW-012", Level: catalog.Security, Outcome: NA}}}}, []string{"### No longer claimed"}, 1},
	} {
		g := Compare(tt.base, tt.head)
		page := g.Page()
		if g.Exit() != tt.exit {
			t.Errorf("%s: exit %d, wanted %d:\n%s", name, g.Exit(), tt.exit, page)
		}
		for _, part := range tt.says {
			if !strings.Contains(page, part) {
				t.Errorf("%s: the page does not say %q:\n%s", name, part, page)
			}
		}
	}
}

func TestGateTellsDroppedClaims(t *testing.T) {
	base, head := run(nil), run(nil)
	base.Claims.Declared = []subject.Capability{subject.Fallback, subject.ModelRoute}
	head.Claims.Declared = []subject.Capability{subject.Fallback}
	if page := Compare([]Verdict{base}, []Verdict{head}).Page(); !strings.Contains(page, "no longer claims: "+string(subject.ModelRoute)) {
		t.Error(page)
	}
}

// TestGateOfNothing: a gate over what does not gate is not open.
func TestGateOfNothing(t *testing.T) {
	v := run(nil)
	for i := range v.Cases {
		v.Cases[i].Level = catalog.House
	}
	g := Compare([]Verdict{v}, []Verdict{v})
	if g.Exit() != ExitHarness || !strings.Contains(g.Page(), "only those gate") {
		t.Error(g.Page())
	}
}
