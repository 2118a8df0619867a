package subject

import (
	"bytes"
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/google/jsonschema-go/jsonschema"
)

// Schemas holds the JSON Schemas of the contract (draft 2020-12), one file a
// type, for authors of subjects in other languages.
//
//go:embed schema/*.json
var Schemas embed.FS

// ValidateDescription checks what `SUBJECT describe` printed.
func ValidateDescription(data []byte) error { return validate("describe", data) }

// ValidateSpec checks the file that --spec names.
func ValidateSpec(data []byte) error { return validate("spec", data) }

// ValidateCommand checks one line from the harness on the control stream.
func ValidateCommand(data []byte) error { return validate("command", data) }

// ValidateReply checks one line with an id from the subject.
func ValidateReply(data []byte) error { return validate("reply", data) }

// ValidateEvent checks one event: its keys are those of its kind, no more, and
// the kind's own keys are all there.
func ValidateEvent(data []byte) error {
	value, err := decode(data)
	if err != nil {
		return fmt.Errorf("event: %w", err)
	}
	object, ok := value.(map[string]any)
	if !ok {
		return fmt.Errorf("event: the line is not a JSON object")
	}
	kind, ok := object["event"].(string)
	if !ok {
		return fmt.Errorf(`event: the key "event" is missing or not a string`)
	}
	kinds, err := eventKinds()
	if err != nil {
		return err
	}
	schema, ok := kinds[kind]
	if !ok {
		return fmt.Errorf("event: kind %q is unknown; use one of %s", kind, strings.Join(slices.Sorted(maps.Keys(kinds)), ", "))
	}
	if err := schema.Validate(value); err != nil {
		return fmt.Errorf("event %s: %w", kind, err)
	}
	return nil
}

func validate(name string, data []byte) error {
	value, err := decode(data)
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	all, err := resolved()
	if err != nil {
		return err
	}
	if err := all[name].Validate(value); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return nil
}

// decode reads exactly one JSON value.
func decode(data []byte) (any, error) {
	d := json.NewDecoder(bytes.NewReader(data))
	var value any
	if err := d.Decode(&value); err != nil {
		return nil, fmt.Errorf("not JSON: %w", err)
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("more than one JSON value")
	}
	return value, nil
}

var resolved = sync.OnceValues(func() (map[string]*jsonschema.Resolved, error) {
	all := map[string]*jsonschema.Resolved{}
	for _, name := range []string{"describe", "spec", "command", "reply"} {
		s, err := load(name)
		if err != nil {
			return nil, err
		}
		if all[name], err = s.Resolve(nil); err != nil {
			return nil, fmt.Errorf("schema %s: %w", name, err)
		}
	}
	return all, nil
})

// eventKinds are the schemas of the single kinds. An error of one of them names
// the key that is wrong, which an error of the whole oneOf would not.
var eventKinds = sync.OnceValues(func() (map[string]*jsonschema.Resolved, error) {
	s, err := load("event")
	if err != nil {
		return nil, err
	}
	kinds := map[string]*jsonschema.Resolved{}
	for kind, def := range s.Defs {
		if kinds[kind], err = def.Resolve(nil); err != nil {
			return nil, fmt.Errorf("schema event %s: %w", kind, err)
		}
	}
	return kinds, nil
})

func load(name string) (*jsonschema.Schema, error) {
	data, err := Schemas.ReadFile("schema/" + name + ".schema.json")
	if err != nil {
		return nil, fmt.Errorf("schema %s: %w", name, err)
	}
	var s jsonschema.Schema
	if err := json.Unmarshal(data, &s); err != nil {
		return nil, fmt.Errorf("schema %s: %w", name, err)
	}
	return &s, nil
}
