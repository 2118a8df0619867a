package report_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"bridgecheck/suites/report"
)

// TestDoubleIsMarked: whatever a reader gets to see of a verdict on a double says
// that it is one.
func TestDoubleIsMarked(t *testing.T) {
	for _, double := range []bool{true, false} {
		v := mixed(t)
		v.Subject.Double = double
		dir := t.TempDir()
		yaml, junit := filepath.Join(dir, "v.yaml"), filepath.Join(dir, "j.xml")
		if err := report.WriteYAML(yaml, v); err != nil {
			t.Fatal(err)
		}
		if err := report.WriteJUnit(junit, v); err != nil {
			t.Fatal(err)
		}
		var text strings.Builder
		if err := report.WriteText(&text, v, report.TextOptions{}); err != nil {
			t.Fatal(err)
		}
		page, _ := htmlOf(t, v, report.HTMLOptions{})
		for name, got := range map[string]string{
			"text": text.String(), "HTML": page, "Markdown": report.Summary(v), "YAML": read(t, yaml), "JUnit": read(t, junit),
		} {
			if strings.Contains(got, "double") != double {
				t.Errorf("%s of a subject that is a double: %v", name, double)
			}
		}
	}
}

func read(t *testing.T, path string) string {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// TestOptionalProfile: one that is about something that the subject has not is
// left out, and one of whose checks a single one applies is judged.
func TestOptionalProfile(t *testing.T) {
	for _, tt := range []struct {
		optional bool
		states   []report.State
		judged   int
	}{
		{true, []report.State{report.NotApplicable, report.NotApplicable}, 0},
		{true, []report.State{report.NotApplicable, report.Passed}, 1},
		{false, []report.State{report.NotApplicable, report.NotApplicable}, 1},
	} {
		o := options()
		o.Selection = []string{"ALW-001", "ALW-002", "LIF-014"}
		o.Profiles = []report.Profile{{Name: "p", Why: "w", Optional: tt.optional, Required: o.Selection[:2]}}
		results := []report.Result{passed("LIF-014", "")}
		for i, state := range tt.states {
			r := passed(o.Selection[i], "")
			r.State = state
			results = append(results, r)
		}
		if v := report.Judge([]report.Facts{shard("user", results...)}, o); len(v.Profiles) != tt.judged {
			t.Errorf("%+v: %d profiles judged: %+v", tt, len(v.Profiles), v.Problems)
		}
	}
}
