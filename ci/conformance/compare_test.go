package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// write makes the folder of a scenario as the suite does.
func write(t *testing.T, dir, scenario, checks string) {
	t.Helper()
	path := filepath.Join(dir, filepath.FromSlash(scenario)+"-2026-01-02T03-04-05-678Z")
	if err := os.MkdirAll(path, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(path, "checks.json"), []byte(checks), 0o600); err != nil {
		t.Fatal(err)
	}
}

func TestOutcomes(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "server-tools-list", `[{"id":"a","status":"SUCCESS"},{"id":"log","status":"INFO"},{"id":"a","status":"FAILURE"},{"id":"a","status":"SUCCESS"}]`)
	write(t, dir, "server-server-initialize", `[{"id":"b","status":"WARNING"}]`)
	write(t, dir, "auth/basic", `[{"id":"c","status":"INFO"}]`)
	all, err := readOutcomes(dir)
	if err != nil {
		t.Fatal(err)
	}
	if got := said(all["tools-list/a"]); got != "FAILURE+SUCCESS" {
		t.Errorf("a check that was made three times is %s", got)
	}
	if got := all.scenarios(); !slices.Equal(got, []string{"auth/basic", "server-initialize", "tools-list"}) {
		t.Errorf("scenarios %v", got)
	}
	if passed, ran := all.tally(); passed != 2 || ran != 3 {
		t.Errorf("%d/%d passed, want 2/3", passed, ran)
	}
	rest := all.without(func(name string) bool { return strings.HasPrefix(name, "auth/") })
	if got := rest.scenarios(); !slices.Equal(got, []string{"server-initialize", "tools-list"}) {
		t.Errorf("without auth: %v", got)
	}
	write(t, dir, "broken", `{`)
	if _, err := readOutcomes(dir); err == nil {
		t.Error("a broken file was read")
	}
}

func TestCompare(t *testing.T) {
	direct := outcomes{"s/same": {"SUCCESS"}, "s/worse": {"SUCCESS"}, "s/gone": {"WARNING"}, "s/": nil}
	bridged := outcomes{"s/same": {"SUCCESS"}, "s/worse": {"FAILURE"}, "s/new": {"FAILURE"}}
	want := []difference{{"s/gone", "WARNING", "none"}, {"s/new", "none", "FAILURE"}, {"s/worse", "SUCCESS", "FAILURE"}}
	if got := compare(direct, bridged); !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}

func TestExplain(t *testing.T) {
	all, err := parseExplanations([]byte(`
- {side: server, chains: [stdio], doors: [proxy], checks: ["s/a*"], reason: r}
- {side: client, checks: ["auth/*/*"], reason: r, leave_out: true}
`))
	if err != nil {
		t.Fatal(err)
	}
	here := run{side: "server", chain: "stdio", door: "proxy"}
	for title, c := range map[string]struct {
		run   run
		check string
		want  bool
	}{
		"meant":         {here, "s/ab", true},
		"other check":   {here, "s/b", false},
		"other door":    {run{side: "server", chain: "stdio", door: "path"}, "s/ab", false},
		"other chain":   {run{side: "server", chain: "url", door: "proxy"}, "s/ab", false},
		"other side":    {run{side: "client", chain: "stdio", door: "proxy"}, "s/ab", false},
		"left out only": {run{side: "client"}, "auth/x/y", false},
	} {
		explained, _ := explain(all, c.run, []difference{{check: c.check}})
		if got := len(explained) == 1; got != c.want {
			t.Errorf("%s: explained %v", title, got)
		}
	}
	if !leftOut(all, run{side: "client"}, "auth/x") || leftOut(all, run{side: "client"}, "ping") || leftOut(all, here, "auth/x") {
		t.Error("auth alone is left out, and of the client's side alone")
	}
}

func TestExplanationsThatMeanNothing(t *testing.T) {
	for title, text := range map[string]string{
		"no reason":    `[{side: server, checks: [a]}]`,
		"blank reason": `[{side: server, checks: [a], reason: "  "}]`,
		"no side":      `[{checks: [a], reason: r}]`,
		"no checks":    `[{side: server, reason: r}]`,
		"bad pattern":  `[{side: server, checks: ["["], reason: r}]`,
		"unknown key":  `[{side: server, checks: [a], reason: r, chain: stdio}]`,
	} {
		if _, err := parseExplanations([]byte(text)); err == nil {
			t.Errorf("%s: taken", title)
		}
	}
	if _, err := parseExplanations(differencesYAML); err != nil {
		t.Error(err)
	}
}

func TestReport(t *testing.T) {
	made := func(passed int, unexplained ...difference) row {
		return row{run: run{side: "server", chain: "stdio", door: "path"}, passed: passed, ran: 2, unexplained: unexplained}
	}
	used, idle := &explanation{Side: "server", used: true}, &explanation{Side: "server", Checks: []string{"s/idle"}}
	sometimes := &explanation{Side: "server", Sometimes: true}
	for title, c := range map[string]struct {
		rows         []row
		explanations []*explanation
		whole, red   bool
		says         string
	}{
		"same":                 {[]row{made(1)}, []*explanation{used, sometimes}, true, false, "| 1/2 | 0 | 0 |"},
		"unexplained":          {[]row{made(1, difference{"s/a", "SUCCESS", "none"})}, nil, true, true, "s/a is SUCCESS direct, none through the bridge (stdio by path)"},
		"stale":                {[]row{made(1)}, []*explanation{idle}, true, true, "STALE server: s/idle"},
		"stale in part of all": {[]row{made(1)}, []*explanation{idle}, false, false, ""},
		"nothing passed":       {[]row{made(0)}, nil, true, true, ""},
	} {
		text, red := report(c.rows, c.explanations, c.whole)
		if red != c.red || !strings.Contains(text, c.says) {
			t.Errorf("%s: red %v, %s", title, red, text)
		}
	}
}

func TestRuns(t *testing.T) {
	if got := runs("server", suites[0]); len(got) != 7 || got[0].chain != "direct" || got[6].String() != "server 0.1/2025-11-25 url path" {
		t.Errorf("%v", got)
	}
	if got := runs("client", suites[0]); len(got) != 4 {
		t.Errorf("%v", got)
	}
}
