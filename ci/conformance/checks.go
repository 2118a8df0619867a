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

// key takes the time from the folder that the suite made for a scenario.
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

// tally counts scenarios: one has passed when no check of it failed and at
// least one succeeded.
func (all outcomes) tally() (passed, ran int) {
	type scenario struct{ good, bad bool }
	found := map[string]scenario{}
	for key, statuses := range all {
		name := key[:strings.LastIndexByte(key, '/')]
		s := found[name]
		s.good = s.good || slices.Contains(statuses, "SUCCESS")
		s.bad = s.bad || slices.Contains(statuses, "FAILURE")
		found[name] = s
	}
	for _, s := range found {
		if s.good && !s.bad {
			passed++
		}
	}
	return passed, len(found)
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
