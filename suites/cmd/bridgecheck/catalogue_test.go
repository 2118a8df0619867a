package main

import (
	"bytes"
	"os"
	"slices"
	"strings"
	"testing"

	"bridgecheck/ci"
	"bridgecheck/suites/catalog"
	"bridgecheck/suites/mutants"
	"bridgecheck/suites/report"
)

const suites = "../../"

// TestGeneratedLists keeps CASES.md and cases.json what the literals say.
func TestGeneratedLists(t *testing.T) {
	asJSON, err := catalog.JSON(catalog.All())
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string][]byte{"CASES.md": catalog.Markdown(catalog.All()), "cases.json": asJSON} {
		got, err := os.ReadFile(suites + name)
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(got, want) {
			t.Errorf("suites/%s is not what the checks say: run `make cases`", name)
		}
	}
}

// TestFaults demands a planted fault of every S and I check, and of every fault
// that the checks it names name it back.
func TestFaults(t *testing.T) {
	faults, err := mutants.Load()
	if err != nil {
		t.Fatal(err)
	}
	if err := mutants.Check(faults, catalog.All()); err != nil {
		t.Error(err)
	}
}

// TestProfiles demands that every required id is registered, and that every
// check is required by some profile or is a house rule: a check that no profile
// asks for would never gate.
func TestProfiles(t *testing.T) {
	profiles, err := report.ParseProfiles(ci.Profiles)
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range profiles {
		for _, id := range p.Required {
			if _, ok := catalog.Get(id); !ok {
				t.Errorf("profile %s requires %s, and there is no such check", p.Name, id)
			}
		}
	}
}

// TestExplain demands that explain tells what one needs to understand a check.
func TestExplain(t *testing.T) {
	c, ok := catalog.Get("ALW-002")
	if !ok {
		t.Fatal("ALW-002 is gone")
	}
	text := catalog.Explain(c)
	for _, part := range []string{c.Must, "clause", "security", "connect", "open-proxy", "suites/allowlist/connect.go", "make case ID=ALW-002"} {
		if !strings.Contains(text, part) {
			t.Errorf("explain does not tell %q:\n%s", part, text)
		}
	}
}

// TestSelection has a pair for every way to choose.
func TestSelection(t *testing.T) {
	profiles := []report.Profile{{Name: "p", Required: []string{"ALW-001"}}}
	for _, tt := range []struct {
		name     string
		s        selection
		want     []string
		profiles int
		fails    bool
	}{
		{"everything", selection{}, ids(selection{}.offered(catalog.All())), 1, false},
		{"everything, with tools", selection{tools: "build"}, ids(catalog.All()), 1, false},
		{"what is on request by its id", selection{ids: []string{"MCP-015"}}, []string{"MCP-015"}, 0, false},
		{"what is on request by its label", selection{labels: []string{"host:tools"}}, []string{"AGT-003", "AGT-004", "AGT-005", "MCP-015"}, 0, false},
		{"an area without what is on request", selection{areas: []string{"AGT"}}, []string{"AGT-001", "AGT-002", "AGT-006"}, 0, false},
		{"an id", selection{ids: []string{"ALW-002"}}, []string{"ALW-002"}, 0, false},
		{"an unknown id", selection{ids: []string{"ALW-999"}}, nil, 0, true},
		{"an id twice", selection{ids: []string{"ALW-002", "ALW-002"}}, []string{"ALW-002"}, 0, false},
		{"an unknown area", selection{areas: []string{"XXX"}}, nil, 0, true},
		{"an unknown label", selection{labels: []string{"needs:magic"}}, nil, 0, true},
		{"what has no body, alone", selection{ids: []string{"CAP-003", "CAP-003.sni"}}, nil, 0, true},
		{"what has no body, with another", selection{ids: []string{"CAP-003.sni", "ALW-027"}}, []string{"ALW-027", "CAP-003.sni"}, 0, false},
		{"a profile", selection{profile: "p"}, []string{"ALW-001"}, 1, false},
		{"an unknown profile", selection{profile: "q"}, nil, 0, true},
		{"a profile and an id", selection{profile: "p", ids: []string{"ALW-002"}}, nil, 0, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, judged, err := tt.s.resolve(profiles)
			if (err != nil) != tt.fails {
				t.Fatalf("error %v, wanted one: %v", err, tt.fails)
			}
			if !slices.Equal(got, tt.want) || len(judged) != tt.profiles {
				t.Errorf("got %v and %d profiles, wanted %v and %d", got, len(judged), tt.want, tt.profiles)
			}
		})
	}
}
