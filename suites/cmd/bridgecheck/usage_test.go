package main

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestUsage: what names nothing, or nothing that exists, is wrong usage for every
// verb, before anything runs: never everything, and never an empty green.
func TestUsage(t *testing.T) {
	results := t.TempDir()
	for _, side := range []string{"a", "b"} {
		if err := os.Mkdir(filepath.Join(results, side), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(results, side, "verdict.yaml"), []byte("format: 1\n"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	a, b := filepath.Join(results, "a"), filepath.Join(results, "b")
	for _, args := range [][]string{
		{"nosuchverb"},
		{"subject"},
		{"subject", "nosuchverb"},
		{"subject", "selftest"},
		{"subject", "selftest", ""},
		{"verify", "--id", ""},
		{"verify", "--id="},
		{"verify", "--id", "ALW-002,"},
		{"verify", "--id", "ALW-999"},
		{"verify", "--id", "ALW-012.nosuchrow"},
		{"verify", "--id", "CAP-003"},
		{"verify", "--area", ""},
		{"verify", "--area", "XYZ"},
		{"verify", "--id", "ALW-002", "--area", ""},
		{"verify", "--label", ""},
		{"verify", "--label", "needs:magic"},
		{"verify", "--profile", ""},
		{"verify", "--profile", "nosuch"},
		{"verify", "--cell", ""},
		{"verify", "--cell", "attic"},
		{"verify", "--cell", "user,user"},
		{"verify", "--engine", ""},
		{"verify", "--engine", "steam"},
		{"verify", "--subject", ""},
		{"verify", "--results", ""},
		{"verify", "--patience", "-1s"},
		{"verify", "stray"},
		{"verify", "--nosuchflag"},
		{"mutants", "--id", ""},
		{"mutants", "--id="},
		{"mutants", "--id", ","},
		{"mutants", "--id", "nosuchfault"},
		{"mutants", "--id", "open-proxy,nosuchfault"},
		{"mutants", "--id", "wrong-nosuch"},
		{"mutants", "--parallel", "-1"},
		{"mutants", "--results", ""},
		{"explain"},
		{"explain", ""},
		{"explain", "ALW-999"},
		{"list", "stray"},
		{"report", ""},
		{"report", a, b},
		{"gate"},
		{"gate", "--base", a},
		{"gate", "--base", "", "--head", b},
		{"gate", "--base", a, "--head", b, "--repeat", "0"},
		{"gate", "--base", a, "--head", b, "--repeat", "2"},
		{"gate", "--base", a, "--head", b, "--id", "ALW-002"},
		{"gate", "--base", "./a", "--head", "./b", "--id", "ALW-999"},
		{"gate", "--base", "./a", "--head", "./b", "--profile", "nosuch"},
		{"soak", "--for", "0s"},
		{"soak", "--subject", ""},
	} {
		cmd := root()
		cmd.SetArgs(args)
		cmd.SetOut(io.Discard)
		err := cmd.ExecuteContext(t.Context())
		var exit exitError
		if err == nil || errors.As(err, &exit) {
			t.Errorf("bridgecheck %s: %v; that is not told as wrong usage", strings.Join(args, " "), err)
		}
	}
	if chosen, _, err := (selection{}).resolve(nil); err != nil || len(chosen) < 100 {
		t.Errorf("without a flag: %d checks, %v", len(chosen), err)
	}
}
