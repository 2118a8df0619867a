package report_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"testing"

	"github.com/goccy/go-yaml"
	"github.com/google/jsonschema-go/jsonschema"

	"bridgecheck/suites/report"
)

var update = flag.Bool("update", false, "rewrite verdict.schema.json")

const schemaFile = "verdict.schema.json"

func verdictSchema(t *testing.T) *jsonschema.Schema {
	t.Helper()
	s, err := jsonschema.For[report.Verdict](nil)
	if err != nil {
		t.Fatal(err)
	}
	s.Schema = "https://json-schema.org/draft/2020-12/schema"
	s.Title = "bridgecheck verdict.yaml"
	var outcomes []any
	for _, o := range report.Outcomes() {
		outcomes = append(outcomes, string(o))
	}
	standings := []any{"conformant", "partial", "non-conformant", "invalid"}
	c := s.Properties["cases"].Items
	c.Properties["outcome"].Enum = outcomes
	c.Properties["results"].Items.Properties["outcome"].Enum = outcomes
	s.Properties["result"].Enum = standings
	s.Properties["profiles"].Items.Properties["result"].Enum = standings
	s.Properties["exit"].Enum = []any{0, 1, 3, 4}
	s.Properties["format"].Enum = []any{report.Format}
	return s
}

// TestSchemaIsCurrent: what is published is what the types say.
func TestSchemaIsCurrent(t *testing.T) {
	want, err := json.MarshalIndent(verdictSchema(t), "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	want = append(want, '\n')
	if *update {
		if err := os.WriteFile(schemaFile, want, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(schemaFile)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("%s is not what the types say; go test ./suites/report -run Schema -update", schemaFile)
	}
}

// TestVerdictsFollowTheSchema validates written verdicts, and one that lies.
func TestVerdictsFollowTheSchema(t *testing.T) {
	data, err := os.ReadFile(schemaFile)
	if err != nil {
		t.Fatal(err)
	}
	var s jsonschema.Schema
	if err := json.Unmarshal(data, &s); err != nil {
		t.Fatal(err)
	}
	schema, err := s.Resolve(nil)
	if err != nil {
		t.Fatal(err)
	}
	unknown := mixed(t)
	unknown.Result = "splendid"
	for name, tc := range map[string]struct {
		v  report.Verdict
		ok bool
	}{
		"mixed":   {mixed(t), true},
		"invalid": {report.Judge(nil, options()), true},
		"unknown": {unknown, false},
	} {
		path := filepath.Join(t.TempDir(), "verdict.yaml")
		if err := report.WriteYAML(path, tc.v); err != nil {
			t.Fatal(err)
		}
		text, _ := os.ReadFile(path)
		asJSON, err := yaml.YAMLToJSON(text)
		if err != nil {
			t.Fatal(err)
		}
		var value any
		if err := json.Unmarshal(asJSON, &value); err != nil {
			t.Fatal(err)
		}
		if err := schema.Validate(value); (err == nil) != tc.ok {
			t.Errorf("%s: %v\n%s", name, err, text)
		}
	}
}
