package main

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/goccy/go-yaml"
)

// explanation is an entry of differences.yaml: checks on which direct and
// bridged may differ, and why they must.
type explanation struct {
	// Side is server or client.
	Side string `yaml:"side"`
	// Chains are those it holds for, as stdio; empty: all.
	Chains []string `yaml:"chains"`
	// Doors are those it holds for, as proxy; empty: all.
	Doors []string `yaml:"doors"`
	// Suites are those it holds for, as 0.2/2025-11-25; empty: all.
	Suites []string `yaml:"suites"`
	// Checks are patterns of path.Match over scenario/check, where a scenario of
	// two parts has one more slash.
	Checks []string `yaml:"checks"`
	Reason string   `yaml:"reason"`
	// Sometimes is for what depends on timing: agreement does not make it stale.
	Sometimes bool `yaml:"sometimes"`
	// LeaveOut does not run the scenarios through the bridge at all.
	LeaveOut bool `yaml:"leave_out"`

	used bool
}

func parseExplanations(data []byte) ([]*explanation, error) {
	var all []*explanation
	if err := yaml.UnmarshalWithOptions(data, &all, yaml.DisallowUnknownField()); err != nil {
		return nil, fmt.Errorf("differences.yaml: %w", err)
	}
	for i, e := range all {
		if e.Side != "server" && e.Side != "client" || len(e.Checks) == 0 || strings.TrimSpace(e.Reason) == "" {
			return nil, fmt.Errorf("differences.yaml: entry %d lacks side (server or client), checks or reason", i+1)
		}
		for _, pattern := range e.Checks {
			if _, err := path.Match(pattern, ""); err != nil {
				return nil, fmt.Errorf("differences.yaml: entry %d: %q: %w", i+1, pattern, err)
			}
		}
	}
	return all, nil
}

func (e *explanation) covers(r run, check string) bool {
	within := func(chosen []string, this string) bool { return len(chosen) == 0 || slices.Contains(chosen, this) }
	if e.Side != r.side || !within(e.Chains, r.chain) || !within(e.Doors, r.door) || !within(e.Suites, r.suite.name) {
		return false
	}
	return slices.ContainsFunc(e.Checks, func(pattern string) bool {
		ok, _ := path.Match(pattern, check)
		return ok
	})
}

// leftOut tells whether a scenario is not run.
func leftOut(all []*explanation, r run, scenario string) bool {
	i := slices.IndexFunc(all, func(e *explanation) bool { return e.LeaveOut && e.covers(r, scenario+"/") })
	if i >= 0 {
		all[i].used = true
	}
	return i >= 0
}

// explain divides the differences of a run into those that are explained and
// those that are not.
func explain(all []*explanation, r run, found []difference) (explained, unexplained []difference) {
	for _, d := range found {
		i := slices.IndexFunc(all, func(e *explanation) bool { return !e.LeaveOut && e.covers(r, d.check) })
		if i < 0 {
			unexplained = append(unexplained, d)
			continue
		}
		all[i].used = true
		explained = append(explained, d)
	}
	return explained, unexplained
}
