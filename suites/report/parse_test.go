package report_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"testing"

	"bridgecheck/suites/report"
)

func TestParseProfiles(t *testing.T) {
	const good = "profiles:\n- {name: bridge, why: Does it?, core: [netns], required: [ALW-001, ALW-002]}\n"
	got, err := report.ParseProfiles([]byte(good))
	if err != nil || len(got) != 1 || got[0].Required[1] != "ALW-002" || got[0].Core[0] != "netns" {
		t.Fatalf("%+v, %v", got, err)
	}
	for name, text := range map[string]string{
		"empty":              "",
		"none":               "profiles: []\n",
		"no name":            "profiles:\n- {why: x, required: [ALW-001]}\n",
		"no why":             "profiles:\n- {name: a, required: [ALW-001]}\n",
		"no ids":             "profiles:\n- {name: a, why: x, required: []}\n",
		"id twice":           "profiles:\n- {name: a, why: x, required: [ALW-001, ALW-001]}\n",
		"name twice":         good + "- {name: bridge, why: x, required: [ALW-001]}\n",
		"unknown capability": "profiles:\n- {name: a, why: x, core: [flying], required: [ALW-001]}\n",
		"unknown key":        "profiles:\n- {name: a, why: x, needed: [ALW-001]}\n",
	} {
		if got, err := report.ParseProfiles([]byte(text)); err == nil {
			t.Errorf("%s: read as %+v", name, got)
		}
	}
}

func TestParseBaseline(t *testing.T) {
	got, err := report.ParseBaseline([]byte("expected:\n- {id: ALW-012.cgnat, reason: known, link: https://example.test/1}\n"))
	if err != nil || len(got) != 1 || got[0].ID != "ALW-012.cgnat" {
		t.Fatalf("%+v, %v", got, err)
	}
	if got, err := report.ParseBaseline([]byte("expected: []\n")); err != nil || len(got) != 0 {
		t.Errorf("an empty list: %+v, %v", got, err)
	}
	for name, text := range map[string]string{
		"no id":     "expected:\n- {reason: a, link: b}\n",
		"no reason": "expected:\n- {id: ALW-001, link: b}\n",
		"no link":   "expected:\n- {id: ALW-001, reason: b}\n",
		"twice":     "expected:\n- {id: ALW-001, reason: a, link: b}\n- {id: ALW-001, reason: a, link: b}\n",
		"unknown":   "accepted:\n- {id: ALW-001, reason: a, link: b}\n",
	} {
		if got, err := report.ParseBaseline([]byte(text)); err == nil {
			t.Errorf("%s: read as %+v", name, got)
		}
	}
}

func TestReadFacts(t *testing.T) {
	dir := t.TempDir()
	want := shard("user", green()...)
	data, err := json.Marshal(want)
	if err != nil {
		t.Fatal(err)
	}
	path, cut := filepath.Join(dir, "facts.json"), filepath.Join(dir, "cut.json")
	for p, d := range map[string][]byte{path: data, cut: data[:len(data)/2]} {
		if err := os.WriteFile(p, d, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if got, err := report.ReadFacts(path); err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("read %+v, %v; want %+v", got, err, want)
	}
	for _, p := range []string{cut, filepath.Join(dir, "missing.json")} {
		if _, err := report.ReadFacts(p); err == nil {
			t.Errorf("%s: read without an error", p)
		}
	}
}
