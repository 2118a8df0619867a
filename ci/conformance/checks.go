package main

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// outcomes is what one run of the suite said: the statuses of each check, keyed
// "scenario/check", sorted and without repetition. What is only told (INFO)
// is left out: logs are no verdict.
type outcomes map[string][]string

// stamp is the time in the name of a scenario's folder.
var stamp = regexp.MustCompile(`-\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d-\d+Z$`)

// readOutcomes reads the folder that `conformance … --output-dir` wrote.
func readOutcomes(dir string) (outcomes, error) {
	all := outcomes{}
	err := filepath.WalkDir(dir, func(path string, _ fs.DirEntry, err error) error {
		if err != nil || filepath.Base(path) != "checks.json" {
			return err
		}
		scenario, err := filepath.Rel(dir, filepath.Dir(path))
		if err != nil {
			return err
		}
		scenario = strings.TrimPrefix(stamp.ReplaceAllString(scenario, ""), "server-")
		return all.add(scenario, path)
	})
	if err != nil {
		return nil, fmt.Errorf("read results of the suite: %w", err)
	}
	return all, nil
}

func (all outcomes) add(scenario, path string) error {
	data, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	var checks []struct{ ID, Status string }
	if err := json.Unmarshal(data, &checks); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	all[scenario+"/"] = nil // it ran, whatever it said
	for _, c := range checks {
		if c.Status == "INFO" {
			continue
		}
		key := scenario + "/" + c.ID
		if !slices.Contains(all[key], c.Status) {
			all[key] = append(all[key], c.Status)
			slices.Sort(all[key])
		}
	}
	return nil
}

// scenarios are their names, sorted.
func (all outcomes) scenarios() (names []string) {
	for key := range all {
		names = append(names, scenarioOf(key))
	}
	slices.Sort(names)
	return slices.Compact(names)
}

func scenarioOf(key string) string { return key[:strings.LastIndexByte(key, '/')] }

// without drops the scenarios that out chooses.
func (all outcomes) without(out func(scenario string) bool) outcomes {
	kept := outcomes{}
	for key, statuses := range all {
		if !out(scenarioOf(key)) {
			kept[key] = statuses
		}
	}
	return kept
}

// tally counts scenarios; one has passed when no check of it failed.
func (all outcomes) tally() (passed, ran int) {
	failed := map[string]bool{}
	for key, statuses := range all {
		name := scenarioOf(key)
		failed[name] = failed[name] || slices.Contains(statuses, "FAILURE")
	}
	for _, bad := range failed {
		if !bad {
			passed++
		}
	}
	return passed, len(failed)
}

// difference is one check on which two runs do not agree.
type difference struct{ check, direct, bridged string }

// compare lists the checks that differ, sorted.
func compare(direct, bridged outcomes) (found []difference) {
	keys := map[string]bool{}
	for _, all := range []outcomes{direct, bridged} {
		for key := range all {
			keys[key] = true
		}
	}
	for key := range keys {
		d, b := said(direct[key]), said(bridged[key])
		if d != b {
			found = append(found, difference{key, d, b})
		}
	}
	slices.SortFunc(found, func(a, b difference) int { return strings.Compare(a.check, b.check) })
	return found
}

func said(statuses []string) string {
	if len(statuses) == 0 {
		return "none"
	}
	return strings.Join(statuses, "+")
}
