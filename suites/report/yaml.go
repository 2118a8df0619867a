package report

import (
	"encoding/json"
	"fmt"
	"os"

	"github.com/goccy/go-yaml"
)

// WriteYAML writes verdict.yaml, the form that other programs read. It is there
// whole or not at all: the head of one that was cut tells a result.
func WriteYAML(path string, v Verdict) error {
	data, err := EncodeYAML(v)
	if err != nil {
		return fmt.Errorf("encode verdict: %w", err)
	}
	part := path + ".part"
	err = os.WriteFile(part, data, 0o644)
	if err == nil {
		err = os.Rename(part, path)
	}
	if err != nil {
		_ = os.Remove(part) // it may not even be there
		return fmt.Errorf("write verdict: %w", err)
	}
	return nil
}

// ReadYAML reads a verdict.yaml. A verdict of another format is an error.
func ReadYAML(path string) (Verdict, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return Verdict{}, fmt.Errorf("read verdict: %w; run bridgecheck verify first", err)
	}
	var v Verdict
	if err := yaml.UnmarshalWithOptions(data, &v, yaml.DisallowUnknownField()); err != nil {
		return Verdict{}, fmt.Errorf("read verdict %s: %w", path, err)
	}
	if v.Format != Format {
		return Verdict{}, fmt.Errorf("read verdict %s: format is %d; this release reads %d", path, v.Format, Format)
	}
	if v.Result == "" || len(v.Cases) == 0 {
		return Verdict{}, fmt.Errorf("read verdict %s: it has no result or no checks; run bridgecheck verify again", path)
	}
	return v, nil
}

// EncodeYAML writes every string double-quoted with JSON's escapes, which YAML
// 1.2 shares (5.7): the plain and block styles of the library lose tabs, carriage
// returns and leading spaces, and subjects print all of them.
func EncodeYAML(v any) ([]byte, error) {
	data, err := yaml.MarshalWithOptions(v, yaml.CustomMarshaler(func(s string) ([]byte, error) { return json.Marshal(s) }))
	if err != nil {
		return nil, fmt.Errorf("encode YAML: %w", err)
	}
	return data, nil
}
