package report

import (
	"slices"
	"strings"
	"testing"

	"bridgecheck/suites/catalog"
)

func run(outcomes map[string]Outcome) Verdict {
	v := Verdict{Subject: Subject{Name: "s"}}
	for _, id := range []string{"ALW-001", "ALW-002", "LIF-001"} {
		o, ok := outcomes[id]
		if !ok {
			o = Pass
		}
		v.Cases = append(v.Cases, CaseVerdict{ID: id, Level: catalog.Security, Outcome: o})
	}
	return v
}

// TestGate has a row for every way in which one check can differ.
func TestGate(t *testing.T) {
	same := run(nil)
	with := func(o Outcome) Verdict { return run(map[string]Outcome{"ALW-002": o}) }
	for _, tt := range []struct {
		name       string
		base, head []Verdict
		section    string
		exit       int
	}{
		{"nothing changed", []Verdict{same}, []Verdict{same}, "", 0},
		{"broken", []Verdict{same}, []Verdict{with(Fail)}, "Broken", 1},
		{"mended", []Verdict{with(Fail)}, []Verdict{same}, "Mended", 0},
		{"red before and after", []Verdict{with(Fail)}, []Verdict{with(Fail)}, "Red before", 0},
		{"newly claimed, green", []Verdict{with(NA)}, []Verdict{same}, "Newly claimed", 0},
		{"newly claimed, red", []Verdict{with(NA)}, []Verdict{with(Fail)}, "Broken", 1},
		{"claim withdrawn", []Verdict{same}, []Verdict{with(NA)}, "No longer claimed", 1},
		{"red and withdrawn", []Verdict{with(Fail)}, []Verdict{with(NA)}, "Red before", 0},
		{"error on the head", []Verdict{same}, []Verdict{with(Error)}, "Cannot be judged", 4},
		{"blocked on both", []Verdict{with(BlockedHost)}, []Verdict{with(BlockedHost)}, "Cannot be judged", 0},
		{"error on the base", []Verdict{with(Error)}, []Verdict{same}, "Cannot be judged", 0},
		{"flips on both", []Verdict{same, with(Fail)}, []Verdict{with(Fail), same}, "Flips", 0},
		{"flips only on the head", []Verdict{same, same}, []Verdict{with(Fail), same}, "Broken", 1},
		{"green flips to green", []Verdict{with(Fail), same}, []Verdict{same, same}, "Flips", 0},
		{"expected on both", []Verdict{with(ExpectedFail)}, []Verdict{with(ExpectedFail)}, "Red before", 0},
		{"no run of the head", []Verdict{same}, nil, "Nothing can be concluded", 4},
		{"an invalid side", []Verdict{same}, []Verdict{{Problems: []string{"crash"}}}, "Nothing can be concluded", 4},
	} {
		t.Run(tt.name, func(t *testing.T) {
			g := Compare(tt.base, tt.head)
			if g.Exit() != tt.exit {
				t.Errorf("exit %d, wanted %d", g.Exit(), tt.exit)
			}
			page := g.Page()
			if tt.section != "" && !strings.Contains(page, "### "+tt.section) {
				t.Errorf("the page has no section %q:\n%s", tt.section, page)
			}
		})
	}
}

// TestGateLeavesHouseRules: what is level H gates nobody here.
func TestGateLeavesHouseRules(t *testing.T) {
	base, head := run(nil), run(map[string]Outcome{"ALW-002": Fail})
	for _, v := range []Verdict{base, head} {
		i := slices.IndexFunc(v.Cases, func(c CaseVerdict) bool { return c.ID == "ALW-002" })
		v.Cases[i].Level = catalog.House
	}
	if g := Compare([]Verdict{base}, []Verdict{head}); g.Exit() != 0 || len(g.Broke) != 0 {
		t.Errorf("a house rule closed the gate: %+v", g.Broke)
	}
}

// TestGateMarksDoubles: a page about stand-ins says so.
func TestGateMarksDoubles(t *testing.T) {
	v := run(nil)
	v.Subject.Double = true
	if page := Compare([]Verdict{v}, []Verdict{v}).Page(); strings.Count(page, "s (double)") != 2 {
		t.Errorf("the page does not mark both sides:\n%s", page)
	}
}
