package report

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/goccy/go-yaml"
)

// RowFile is where [Row] stands in the results folder of a row of the matrix.
const RowFile = "row.yaml"

// Row is one row of a version matrix and how its run ended. Its folder holds one
// folder of results for each subject.
type Row struct {
	Format int    `json:"format"`
	Name   string `json:"name"`
	Why    string `json:"why"`
	// Versions are what the row was built of, by name, as it was asked for.
	Versions map[string]string `json:"versions"`
	Image    string            `json:"image"`
	Arch     string            `json:"arch"`
	// Informational rows never gate.
	Informational bool `json:"informational,omitempty"`
	// Expect is the result that is right for the row, in a word.
	Expect string `json:"expect"`
	// Got is the result it had; empty until the row has ended.
	Got string `json:"got,omitempty"`
	// Red is true when Got is not what was expected and the row gates.
	Red bool `json:"red,omitempty"`
	// Because says what made it red.
	Because string `json:"because,omitempty"`
}

// WriteRow writes [RowFile] into the folder.
func WriteRow(dir string, r Row) error {
	r.Format = Format
	data, err := EncodeYAML(r)
	if err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(dir, RowFile), data, 0o644); err != nil {
		return fmt.Errorf("write row: %w", err)
	}
	return nil
}

// ReadRow reads [RowFile] of a folder; it returns nil where there is none.
func ReadRow(dir string) (*Row, error) {
	path := filepath.Join(dir, RowFile)
	data, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read row: %w", err)
	}
	var r Row
	if err := yaml.UnmarshalWithOptions(data, &r, yaml.DisallowUnknownField()); err != nil {
		return nil, fmt.Errorf("read row %s: %w", path, err)
	}
	if r.Format != Format || r.Name == "" {
		return nil, fmt.Errorf("read row %s: format %d, name %q: this release reads format %d with a name", path, r.Format, r.Name, Format)
	}
	return &r, nil
}
