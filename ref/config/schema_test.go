package config_test

import (
	"bytes"
	"encoding/json"
	"os"
	"testing"

	"github.com/goccy/go-yaml"
	"github.com/google/jsonschema-go/jsonschema"

	"bridgecheck/ref/config"
)

// The schema that editors use is the one that the types give.
func TestSchemaIsShipped(t *testing.T) {
	made, err := config.Schema()
	if err != nil {
		t.Fatal(err)
	}
	shipped, err := os.ReadFile("soda.schema.json")
	if err != nil || !bytes.Equal(made, shipped) {
		t.Errorf("write it anew: go run ./ref/cmd/refbridge schema >ref/config/soda.schema.json (%v)", err)
	}
}

func TestSchema(t *testing.T) {
	text, err := config.Schema()
	if err != nil {
		t.Fatal(err)
	}
	var schema jsonschema.Schema
	if err := json.Unmarshal(text, &schema); err != nil {
		t.Fatal(err)
	}
	resolved, err := schema.Resolve(nil)
	if err != nil {
		t.Fatal(err)
	}
	valid := func(file []byte) error {
		var v any
		if err := yaml.Unmarshal(file, &v); err != nil {
			t.Fatal(err)
		}
		return resolved.Validate(v)
	}
	good, err := os.ReadFile("testdata/soda.yaml")
	if err != nil {
		t.Fatal(err)
	}
	if err := valid(good); err != nil {
		t.Errorf("a good file: %v", err)
	}
	for _, bad := range []string{
		"alow: []", "policy: maybe", "mcp_servers: {a: {comand: x}}", "mcp_servers: []", "mcp_servers: {a: {port: 65536}}",
		"mcp_servers: {a: {command: x, start_timeout: 30}}", "timeouts: {idle: 5 minutes}", "allow: [{host: a, port: \"443\"}]",
		"mcp_servers: {a: {command: x, transports: [smoke]}}", "limits: {memory: -1}", "proxy: {sni_check: maybe}",
	} {
		if valid([]byte(bad)) == nil {
			t.Errorf("%s: no fault is found", bad)
		}
	}
}
