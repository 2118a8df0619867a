package report_test

import (
	"path/filepath"
	"strings"
	"testing"

	"os"

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
