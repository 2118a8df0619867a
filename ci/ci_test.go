package ci_test

import (
	"os"
	"strings"
	"testing"

	"bridgecheck/ci"
	"bridgecheck/suites/report"
)

func TestProfiles(t *testing.T) {
	profiles, err := report.ParseProfiles(ci.Profiles)
	if err != nil {
		t.Fatal(err)
	}
	if profiles[0].Name != "bridge" {
		t.Errorf("the first profile is %s, want bridge", profiles[0].Name)
	}
}

// TestBaselines: every file can be read, and a subject without one has none.
func TestBaselines(t *testing.T) {
	files, err := os.ReadDir("baselines")
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		if _, err := ci.Baseline(strings.TrimSuffix(f.Name(), ".yaml")); err != nil {
			t.Error(err)
		}
	}
	if got, err := ci.Baseline("nobodys-sandbox"); err != nil || got != nil {
		t.Errorf("a subject without a file: %v, %v", got, err)
	}
	for _, name := range []string{"", "../baselines/ref-native", "a/b"} {
		if _, err := ci.Baseline(name); err == nil {
			t.Errorf("%q: accepted as a name", name)
		}
	}
}
