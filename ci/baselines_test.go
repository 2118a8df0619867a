package ci_test

import (
	"encoding/json"
	"os"
	"slices"
	"strings"
	"testing"

	"bridgecheck/ci"
)

// TestBaselineRows: what is expected to fail is a check, or a row of one, that
// there is. An entry that no longer names one would never be noticed.
func TestBaselineRows(t *testing.T) {
	raw, err := os.ReadFile("../suites/cases.json")
	if err != nil {
		t.Fatal(err)
	}
	var list []struct {
		ID   string
		Rows []string
	}
	if err := json.Unmarshal(raw, &list); err != nil {
		t.Fatal(err)
	}
	rows := map[string][]string{}
	for _, c := range list {
		rows[c.ID] = c.Rows
	}
	files, err := os.ReadDir("baselines")
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		expected, err := ci.Baseline(strings.TrimSuffix(f.Name(), ".yaml"))
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range expected {
			id, row, _ := strings.Cut(e.ID, ".")
			if known, ok := rows[id]; !ok || row != "" && !slices.Contains(known, row) {
				t.Errorf("%s: there is no %s", f.Name(), e.ID)
			}
		}
	}
}
