package config

import (
	"encoding/json"
	"reflect"
)

// object is a JSON Schema, or a part of one.
type object map[string]any

// chosen are the words of fields that hold one of several, by key.
var chosen = map[string][]string{
	"network": networks, "policy": policies, "seccomp": profiles, "mode": switches,
	"placement": placements, "containment": containments, "transports": transports,
}

// Schema is the JSON Schema of soda.yaml (draft 2020-12), for editors. It is made
// from the types that the file is read into. It finds what is misspelt or of the
// wrong type; what contradicts itself only [ParseSODA] finds.
func Schema() ([]byte, error) {
	s := schemaOf(reflect.TypeFor[soda](), "")
	s["$schema"] = "https://json-schema.org/draft/2020-12/schema"
	s["title"] = "soda.yaml of refbridge"
	text, err := json.MarshalIndent(s, "", "  ")
	return append(text, '\n'), err
}

// schemaOf describes what the decoder reads into a type; key is the field's.
func schemaOf(t reflect.Type, key string) object {
	switch {
	case t == nodeType: // the servers, which are read in a second step
		return object{"type": "object", "additionalProperties": schemaOf(reflect.TypeFor[sodaServer](), "")}
	case t == durationType:
		return object{"type": "string", "pattern": `^([0-9]+(\.[0-9]*)?(ns|us|µs|ms|s|m|h))+$`}
	}
	switch t.Kind() {
	case reflect.Pointer:
		return schemaOf(t.Elem(), key)
	case reflect.Struct:
		properties := object{}
		for f := range t.Fields() {
			name := f.Tag.Get("json")
			property := schemaOf(f.Type, name)
			if doc := f.Tag.Get("doc"); doc != "" {
				property["description"] = doc
			}
			properties[name] = property
		}
		return object{"type": "object", "additionalProperties": false, "properties": properties}
	case reflect.Slice:
		return object{"type": "array", "items": schemaOf(t.Elem(), key)}
	case reflect.Map:
		return object{"type": "object", "additionalProperties": schemaOf(t.Elem(), "")}
	case reflect.Bool:
		return object{"type": "boolean"}
	case reflect.Int, reflect.Int64:
		if key == "port" {
			return object{"type": "integer", "minimum": 0, "maximum": 65535}
		}
		return object{"type": "integer", "minimum": 0}
	}
	if words := chosen[key]; words != nil {
		return object{"enum": words}
	}
	return object{"type": "string"}
}
