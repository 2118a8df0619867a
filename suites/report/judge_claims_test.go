package report_test

import (
	"encoding/xml"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"bridgecheck/suites/catalog"
	"bridgecheck/suites/report"
	"bridgecheck/suites/subject"
)

// TestClaims: a claim is exercised by a check that passed in all cells and rows,
// and used it; only a full run, or a row that is named, is judged by that.
func TestClaims(t *testing.T) {
	uses := func(r report.Result, c ...subject.Capability) report.Result { r.Uses = c; return r }
	blocked := in(report.Blocked, "ALW-002", "")
	whole := slices.Concat(options().Selection, []string{"CAP-003"})
	for name, tc := range map[string]struct {
		results  []report.Result
		claims   []subject.Capability
		selected []string
		outcome  report.Outcome
		exit     int
		says     string
	}{
		"used":                      {green(), []subject.Capability{subject.Connect}, whole, report.Pass, 0, ""},
		"used by nothing":           {green(), []subject.Capability{subject.Connect, subject.SNI}, whole, report.Fail, 1, "sni is claimed"},
		"used where it fails":       {with(uses(failed("ALW-002", ""), subject.SNI)), []subject.Capability{subject.SNI}, whole, report.Fail, 1, "sni is claimed"},
		"used where one row fails":  {with(uses(passed("ALW-012", "loopback"), subject.SNI), failed("ALW-012", "cgnat")), []subject.Capability{subject.SNI}, whole, report.Fail, 1, "sni is claimed"},
		"used where this cannot be": {with(uses(blocked, subject.SNI)), []subject.Capability{subject.SNI}, whole, report.BlockedHost, 0, "ALW-002 blocked"},
		"a part, and not named":     {green()[:2], []subject.Capability{subject.SNI}, []string{"ALW-001", "ALW-002", "CAP-003"}, report.NA, 0, "a run of all checks"},
		"a part, and named":         {green()[:2], []subject.Capability{subject.SNI}, []string{"ALW-001", "ALW-002", "CAP-003.sni"}, report.Fail, 1, "sni is claimed"},
		"another one named":         {green()[:2], []subject.Capability{subject.SNI}, []string{"ALW-001", "ALW-002", "CAP-003.connect"}, report.NA, 0, ""},
		"not chosen":                {green(), []subject.Capability{subject.SNI}, options().Selection, report.NotSelected, 0, ""},
	} {
		t.Run(name, func(t *testing.T) {
			opts := options()
			opts.Profiles, opts.Selection = nil, tc.selected
			opts.Registered = append(opts.Registered, catalog.Case{
				ID: "CAP-003", Title: "claims nothing unused", Must: "x", Clause: "12.3", Level: catalog.Security, OfRun: true,
				Rows: []string{"connect", "sni"}, Faults: []string{"x"}, File: "suites/claims/exercised.go:9",
			})
			facts := shard("user", tc.results...)
			facts.Subject.Capabilities = tc.claims
			v := report.Judge([]report.Facts{facts}, opts)
			c, _ := v.Case("CAP-003")
			if c.Outcome != tc.outcome || v.Exit != tc.exit || !strings.Contains(c.Reason, tc.says) {
				t.Fatalf("%s (%s), exit %d %v; want %s, %d", c.Outcome, c.Reason, v.Exit, v.Problems, tc.outcome, tc.exit)
			}
			if tc.outcome == report.Fail {
				inJUnit(t, v, "CAP-003.sni")
			}
		})
	}
}

// inJUnit demands that the failure of a row that no cell ran is told there too.
func inJUnit(t *testing.T, v report.Verdict, id string) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "junit.xml")
	if err := report.WriteJUnit(path, v); err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var file struct {
		Suites []struct {
			Cases []struct {
				Name    string    `xml:"name,attr"`
				Failure *struct{} `xml:"failure"`
			} `xml:"testcase"`
		} `xml:"testsuite"`
	}
	if err := xml.Unmarshal(data, &file); err != nil {
		t.Fatal(err)
	}
	for _, s := range file.Suites {
		for _, c := range s.Cases {
			if strings.HasPrefix(c.Name, id+" ") && c.Failure != nil {
				return
			}
		}
	}
	t.Errorf("no failure of %s in\n%s", id, data)
}

// TestExercised: what passed is what the verdict says was used.
func TestExercised(t *testing.T) {
	v := report.Judge([]report.Facts{shard("user", green()...)}, options())
	if !slices.Equal(v.Claims.Exercised, []subject.Capability{subject.Connect}) {
		t.Errorf("exercised %v, want [connect]", v.Claims.Exercised)
	}
}
