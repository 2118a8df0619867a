package main

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"bridgecheck/suites/catalog"
)

var (
	clause = regexp.MustCompile(`(?ms)^\*\*([0-9]+\.[0-9]+)\*\*(.*?)(?:^\*\*|^## |\z)`)
	// named are the checks that a clause names, in italics at its end.
	named = regexp.MustCompile(`_((?:[A-Z]{3}-[0-9]{3}(?:, )?)+)[a-z ]*_`)
)

// clauses reads CONTRACT.md: the checks that each clause names.
func clauses(t *testing.T) map[string][]string {
	t.Helper()
	text, err := os.ReadFile(suites + "CONTRACT.md")
	if err != nil {
		t.Fatal(err)
	}
	all := map[string][]string{}
	rest := string(text)
	for {
		at := clause.FindStringSubmatchIndex(rest)
		if at == nil {
			return all
		}
		number, body := rest[at[2]:at[3]], rest[at[4]:at[5]]
		if _, twice := all[number]; twice {
			t.Errorf("clause %s stands twice", number)
		}
		all[number] = nil
		for _, m := range named.FindAllStringSubmatch(body, -1) {
			all[number] = append(all[number], strings.FieldsFunc(m[1], func(r rune) bool { return r == ',' || r == ' ' })...)
		}
		rest = rest[at[5]:] // the next one begins where this one's text ends
	}
}

// TestClauses demands that every clause names a check, that each check it names
// exists, and that a check's own clause names it back. What can only be seen
// from within is a test of the reference bridge under the check's id.
func TestClauses(t *testing.T) {
	all := clauses(t)
	if len(all) < 100 {
		t.Fatalf("found %d clauses: the pattern no longer fits the text", len(all))
	}
	for number, ids := range all {
		if len(ids) == 0 {
			t.Errorf("clause %s names no check: nothing would notice that it is broken", number)
		}
		for _, id := range ids {
			if c, ok := catalog.Get(id); !ok && !testedWithin(t, id) {
				t.Errorf("clause %s names %s, which is neither a check nor a test of ref", number, id)
			} else if _, own := all[c.Clause]; ok && !own {
				t.Errorf("%s is of clause %s, which does not exist", id, c.Clause)
			}
		}
	}
	for _, c := range catalog.All() {
		if !slices.Contains(all[c.Clause], c.ID) {
			t.Errorf("%s is of clause %s, which names %v", c.ID, c.Clause, all[c.Clause])
		}
	}
}

// testedWithin finds the id in a test of ref.
func testedWithin(t *testing.T, id string) bool {
	t.Helper()
	found := false
	err := filepath.WalkDir(filepath.Join(suites, "..", "ref"), func(path string, _ fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, "_test.go") {
			return err
		}
		text, err := os.ReadFile(path)
		found = found || strings.Contains(string(text), id)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}
