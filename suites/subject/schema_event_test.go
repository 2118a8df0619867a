package subject

import (
	"maps"
	"slices"
	"testing"

	"github.com/google/jsonschema-go/jsonschema"
)

// eventKeys says which keys each kind of event must and may have, besides time
// and event. CONTRACT.md section 5 is the same table in words.
var eventKeys = map[string]struct{ must, may []string }{
	EventMode:            {[]string{"mode", "level", "reason"}, []string{"servers", "allow", "layers"}},
	EventServerProgress:  {[]string{"server", "took_ms"}, nil},
	EventServerStarted:   {[]string{"server", "took_ms"}, []string{"socket", "url", "port", "containment"}},
	EventReady:           {[]string{"doors", "v4", "v6"}, nil},
	EventDecision:        {[]string{"target", "verdict"}, []string{"rule", "server", "reason", "dialled"}},
	EventServerExited:    {[]string{"server"}, []string{"code", "signal", "stderr_tail"}},
	EventServerUnhealthy: {[]string{"server", "reason"}, nil},
	EventServerStopped:   {[]string{"server", "how", "took_ms"}, nil},
	EventUnsupported:     {[]string{"field"}, []string{"reason"}},
	EventError:           {[]string{"stage", "reason"}, []string{"errno", "causes", "server", "stderr_tail"}},
	EventExit:            {[]string{"reason"}, []string{"code", "signal"}},
}

// eventValues narrows keys whose values are a closed list; a key before a dot
// is of that kind alone.
var eventValues = map[string]*jsonschema.Schema{
	"mode":                    oneOf("connect", "shared-network"),
	"level":                   oneOf("isolated", "shared/userns", "shared/none"),
	"verdict":                 oneOf("allow", "deny", "error"),
	"how":                     oneOf("eof", "term", "kill"),
	"containment":             oneOf("namespace", "process-group"),
	"layers":                  {Type: "object", AdditionalProperties: oneOf("on", "off", "missing")},
	"server-unhealthy.reason": oneOf("hung", "dead"),
}

func eventSchema(t *testing.T) *jsonschema.Schema {
	all := of[Event](t)
	root := &jsonschema.Schema{Defs: map[string]*jsonschema.Schema{}}
	for _, kind := range slices.Sorted(maps.Keys(eventKeys)) {
		root.Defs[kind] = kindSchema(t, all, kind)
		root.OneOf = append(root.OneOf, &jsonschema.Schema{Ref: "#/$defs/" + kind})
	}
	return root
}

func kindSchema(t *testing.T, all *jsonschema.Schema, kind string) *jsonschema.Schema {
	keys, value := eventKeys[kind], any(kind)
	s := &jsonschema.Schema{
		Type: "object", Required: append([]string{"time", "event"}, keys.must...),
		AdditionalProperties: &jsonschema.Schema{Not: &jsonschema.Schema{}},
		Properties: map[string]*jsonschema.Schema{
			"time": all.Properties["time"], "event": {Const: &value},
		},
	}
	for _, key := range slices.Concat(keys.must, keys.may) {
		p, ok := all.Properties[key]
		if !ok {
			t.Fatalf("event %s: Event has no key %q", kind, key)
		}
		for _, name := range []string{key, kind + "." + key} {
			if narrow, ok := eventValues[name]; ok {
				p = narrow
			}
		}
		s.Properties[key] = p
	}
	switch kind {
	case EventExit, EventServerExited:
		s.OneOf = []*jsonschema.Schema{{Required: []string{"code"}}, {Required: []string{"signal"}}}
		code := *s.Properties["code"]
		code.Type, code.Types = "integer", nil
		s.Properties["code"] = &code
	case EventDecision: // a refusal is a value with a reason
		s.If = &jsonschema.Schema{Properties: map[string]*jsonschema.Schema{"verdict": oneOf("deny", "error")}}
		s.Then = &jsonschema.Schema{Required: []string{"reason"}}
	}
	return s
}

// TestEveryKeyHasAKind: a field that no kind uses would be dead contract.
func TestEveryKeyHasAKind(t *testing.T) {
	used := map[string]bool{"time": true, "event": true}
	for _, keys := range eventKeys {
		for _, key := range slices.Concat(keys.must, keys.may) {
			used[key] = true
		}
	}
	for key := range of[Event](t).Properties {
		if !used[key] {
			t.Errorf("no kind of event has the key %q", key)
		}
	}
}
