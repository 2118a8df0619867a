package subject

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"testing"

	"github.com/google/jsonschema-go/jsonschema"
)

var update = flag.Bool("update", false, "rewrite the files in schema/")

// TestSchemasAreCurrent: what is published is what the types and the table of
// event kinds say.
func TestSchemasAreCurrent(t *testing.T) {
	for name, s := range map[string]*jsonschema.Schema{
		"describe": describeSchema(t), "spec": specSchema(t), "command": commandSchema(t),
		"reply": replySchema(t), "event": eventSchema(t),
	} {
		s.Schema = "https://json-schema.org/draft/2020-12/schema"
		s.Title = "bridgecheck subject contract, protocol 1: " + name
		want, err := json.MarshalIndent(s, "", "  ")
		if err != nil {
			t.Fatal(err)
		}
		want, file := append(want, '\n'), "schema/"+name+".schema.json"
		if *update {
			if err := os.WriteFile(file, want, 0o644); err != nil {
				t.Fatal(err)
			}
		}
		if got, err := os.ReadFile(file); err != nil || !bytes.Equal(got, want) {
			t.Errorf("%s is not what the types say (%v); go test ./suites/subject -run Schemas -update", file, err)
		}
	}
}

func of[T any](t *testing.T) *jsonschema.Schema {
	t.Helper()
	s, err := jsonschema.For[T](nil)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func oneOf(values ...any) *jsonschema.Schema {
	return &jsonschema.Schema{Type: "string", Enum: values}
}

func between(low, high float64) *jsonschema.Schema {
	return &jsonschema.Schema{Type: "integer", Minimum: &low, Maximum: &high}
}

func describeSchema(t *testing.T) *jsonschema.Schema {
	s := of[Description](t)
	protocol := any(Protocol)
	s.Properties["protocol"].Const = &protocol
	one := 1
	s.Properties["name"].MinLength = &one
	var words []any
	for _, c := range All() {
		words = append(words, string(c))
	}
	list := s.Properties["capabilities"]
	list.Type, list.Types, list.UniqueItems, list.Items = "array", nil, true, oneOf(words...)
	return s
}

func specSchema(t *testing.T) *jsonschema.Schema {
	s := of[Spec](t)
	p := s.Properties
	p["network"] = oneOf("isolated", "shared", "auto")
	p["policy"] = oneOf("require", "prefer", "off")
	p["seccomp"] = oneOf("baseline", "strict", "off")
	server := p["servers"].Items.Properties
	server["kind"] = oneOf("stdio", "http", "unix")
	server["placement"] = oneOf("sandbox", "host")
	server["containment"] = oneOf("namespace", "process-group")
	server["port"] = between(0, 65535)
	server["transports"].Items = oneOf("http", "sse")
	for _, rules := range []*jsonschema.Schema{p["allow"], p["deny"], server["allowed_hosts"]} {
		rules.Items.Properties["port"] = between(1, 65535)
	}
	p["relays"].Items.Properties["port"] = between(1, 65535)
	p["proxy"].Properties["mode"] = oneOf("on", "off")
	p["proxy"].Properties["refuse_status"] = &jsonschema.Schema{Type: "integer", Enum: []any{502, 403}}
	p["agent"].Properties["transports"].Items = oneOf("http", "sse", "stdio", "unix")
	route := p["routes"].Items
	route.OneOf = []*jsonschema.Schema{{Required: []string{"server"}}, {Required: []string{"url"}}}
	return s
}

func commandSchema(t *testing.T) *jsonschema.Schema {
	s := of[Command](t)
	s.Properties["op"] = oneOf("start", "stop", "health", "stop-all", "quit")
	named := &jsonschema.Schema{Properties: map[string]*jsonschema.Schema{"op": oneOf("start", "stop", "health")}}
	s.If, s.Then = named, &jsonschema.Schema{Required: []string{"name"}}
	return s
}

func replySchema(t *testing.T) *jsonschema.Schema {
	s := of[Reply](t)
	reasons := func() *jsonschema.Schema {
		return oneOf("already-running", "unknown-server", "not-running", "timeout", "dead",
			"start-failed", "bad-command", "stop-failed")
	}
	for _, r := range []*jsonschema.Schema{s, s.Properties["results"].Items} {
		r.Properties["reason"] = reasons()
		r.Properties["how"] = oneOf("eof", "term", "kill")
		no := any(false)
		r.If = &jsonschema.Schema{Properties: map[string]*jsonschema.Schema{"ok": {Const: &no}}}
		r.Then = &jsonschema.Schema{Required: []string{"reason"}}
	}
	return s
}
