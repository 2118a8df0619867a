package main

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"bridgecheck/suites/report"
)

// TestClaimResults: the verdict of an earlier run is gone before a new one
// starts, what is not a report stays, and a second run at the same time is
// refused until the first has ended.
func TestClaimResults(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "results", "my bridge")
	first, err := claimResults(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range append([]string{"gate.md"}, reports...) {
		if err := os.WriteFile(filepath.Join(dir, name), []byte("exit: 0\n"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := claimResults(dir); err == nil || !strings.Contains(err.Error(), "another run") {
		t.Errorf("a second run at the same time: %v", err)
	}
	if err := first.Close(); err != nil {
		t.Fatal(err)
	}
	second, err := claimResults(dir)
	if err != nil {
		t.Fatalf("after the first has ended: %v", err)
	}
	defer second.Close()
	left, err := os.ReadDir(dir)
	if err != nil || len(left) != 1 || left[0].Name() != "gate.md" {
		t.Errorf("left of an earlier run: %v, %v", left, err)
	}
}

// TestUnusableSubjectLeavesNoVerdict: a run that ends before its first check
// has no verdict, and must not seem to have the last one's.
func TestUnusableSubjectLeavesNoVerdict(t *testing.T) {
	results := t.TempDir()
	old := filepath.Join(results, "true", "verdict.yaml")
	if err := os.Mkdir(filepath.Dir(old), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(old, []byte("exit: 0\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	f := verifyFlags{results: results, engine: "none", cells: []string{"user"}}
	_, err := f.verdict(t.Context(), t.TempDir(), target{path: "/bin/true", name: "true"}, filepath.Dir(old))
	var exit exitError
	if !errors.As(err, &exit) || exit.code != report.ExitHarness {
		t.Errorf("the subject describes nothing: %v", err)
	}
	if _, err := os.Stat(old); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the verdict of the last run is still there: %v", err)
	}
}
