// Package mutants plants faults: one small patch of ref each, built with
// `go build -overlay`, so that ref itself holds no seam and no sabotage code. A
// check is believed when the faults that name it turn it red; a patch that no
// longer applies fails the build.
package mutants

import (
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/goccy/go-yaml"

	"bridgecheck/suites/catalog"
)

//go:embed faults
var files embed.FS

// Fault is one planted fault, read from faults/NAME.yaml.
type Fault struct {
	// Name is the file's name without .yaml: lower-case words joined by dashes.
	Name string `yaml:"name"`
	// Why says in a sentence what a bridge with this fault does wrong.
	Why  string `yaml:"why"`
	Edit `yaml:",inline"`
	// Also are further edits that the first one needs, as an import.
	Also []Edit `yaml:"also,omitempty"`
	// With are parts that several faults share: lists of edits in
	// faults/parts/NAME.yaml.
	With []string `yaml:"with,omitempty"`
	// Double is a word of the doubles of arapuca that they do, instead of an edit.
	Double string `yaml:"double,omitempty"`
	// Subject is the one on a double that does it; empty is [DoubleSubject].
	Subject string `yaml:"subject,omitempty"`
	// Cases are the checks (ALW-012), or rows (ALW-012.cgnat), that must turn
	// red.
	Cases []string `yaml:"cases"`
}

// Edit replaces one block of one file.
type Edit struct {
	// File is a path from the module's root, below ref/.
	File string `yaml:"file"`
	// Find must occur in it exactly once.
	Find    string `yaml:"find"`
	Replace string `yaml:"replace"`
}

// edits are all edits of the fault.
func (f Fault) edits() []Edit {
	if f.Double != "" {
		return []Edit{{"ref/arapuca/double/behaviour/behaviour.go", planted + `""`, planted + strconv.Quote(f.Double)}}
	}
	return append([]Edit{f.Edit}, f.Also...)
}

// planted is the line of the doubles that says what they do unasked.
const planted = "const planted = "

// DoubleSubject is the subject that most words of the doubles are tried on.
const DoubleSubject = "ref-arapuca-double"

// On is the subject on a double that has the fault, empty for a fault of the
// reference bridge.
func (f Fault) On() string {
	if f.Double != "" && f.Subject == "" {
		return DoubleSubject
	}
	return f.Subject
}

// Load reads the faults that are compiled in, by name.
func Load() ([]Fault, error) { return LoadFS(files) }

// LoadFS reads faults/*.yaml of a file system. It reports every bad file.
func LoadFS(fsys fs.FS) ([]Fault, error) {
	names, err := fs.Glob(fsys, "faults/*.yaml")
	if err != nil {
		return nil, fmt.Errorf("list faults: %w", err)
	}
	var all []Fault
	var problems []error
	for _, name := range names {
		f, err := read(fsys, name)
		if err != nil {
			problems = append(problems, fmt.Errorf("%s: %w", name, err))
			continue
		}
		all = append(all, f)
	}
	return all, errors.Join(problems...)
}

func read(fsys fs.FS, name string) (Fault, error) {
	var f Fault
	if err := parse(fsys, name, &f); err != nil {
		return Fault{}, err
	}
	for _, part := range f.With {
		edits, err := readPart(fsys, part)
		if err != nil {
			return Fault{}, err
		}
		f.Also = append(f.Also, edits...)
	}
	if f.Name != strings.TrimSuffix(path.Base(name), ".yaml") {
		return Fault{}, fmt.Errorf("the name is %q; it must be that of the file", f.Name)
	}
	return f, f.validate()
}

func readPart(fsys fs.FS, name string) ([]Edit, error) {
	var part struct {
		Why   string `yaml:"why"`
		Edits []Edit `yaml:"edits"`
	}
	if err := parse(fsys, "faults/parts/"+name+".yaml", &part); err != nil {
		return nil, fmt.Errorf("part %s: %w", name, err)
	}
	if part.Why == "" || len(part.Edits) == 0 {
		return nil, fmt.Errorf("part %s: give why and edits", name)
	}
	return part.Edits, nil
}

func parse(fsys fs.FS, name string, v any) error {
	data, err := fs.ReadFile(fsys, name)
	if err != nil {
		return fmt.Errorf("read: %w", err)
	}
	data = block.ReplaceAll(data, []byte("${1}2"))
	if err := yaml.UnmarshalWithOptions(data, v, yaml.DisallowUnknownField()); err != nil {
		return fmt.Errorf("parse: %w", err)
	}
	return nil
}

// block is the head of a block of Go. It gets the indentation indicator (YAML 1.2,
// 8.1.1.1) that the parser needs to take tabs for content; the block stands two
// columns to the right of its key.
var block = regexp.MustCompile(`(?m)^([ -]*(?:find|replace): \|)$`)

var namePattern = regexp.MustCompile(`^[a-z0-9]+(-[a-z0-9]+)*$`)

func (f Fault) validate() error {
	switch {
	case !namePattern.MatchString(f.Name):
		return fmt.Errorf("name %q must be lower-case words joined by dashes", f.Name)
	case f.Why == "":
		return errors.New("why is missing; say what a bridge with this fault does wrong")
	case len(f.Cases) == 0:
		return errors.New("cases is empty; a fault that no check must catch proves nothing")
	case f.Double != "" && (f.Edit != Edit{} || len(f.Also) > 0):
		return errors.New("double and an edit exclude each other")
	case f.Double == "" && f.Subject != "":
		return errors.New("subject is for a fault of a double")
	}
	for _, e := range f.edits() {
		switch {
		case path.Clean(e.File) != e.File || !strings.HasPrefix(e.File, "ref/") || !strings.HasSuffix(e.File, ".go"):
			return fmt.Errorf("file %q must be a Go file below ref/", e.File)
		case strings.TrimSpace(e.Find) == "":
			return fmt.Errorf("find is empty; give the block of %s that is replaced", e.File)
		case e.Find == e.Replace:
			return fmt.Errorf("replace is find; the patch of %s changes nothing", e.File)
		}
	}
	return nil
}

// Check demands that faults and checks name each other: every fault a check
// names exists and names it back, every check a fault names exists and names it
// back. It reports all that is wrong.
func Check(faults []Fault, cases []catalog.Case) error {
	var problems []error
	wrong := func(format string, args ...any) { problems = append(problems, fmt.Errorf(format, args...)) }
	for _, c := range cases {
		for _, name := range c.Faults {
			i := slices.IndexFunc(faults, func(f Fault) bool { return f.Name == name })
			switch {
			case i < 0:
				wrong("check %s names fault %s, and there is no faults/%s.yaml", c.ID, name, name)
			case !slices.ContainsFunc(faults[i].Cases, func(id string) bool { return caseOf(id) == c.ID }):
				wrong("check %s names fault %s, which does not name it back", c.ID, name)
			}
		}
	}
	for _, f := range faults {
		for _, id := range f.Cases {
			i := slices.IndexFunc(cases, func(c catalog.Case) bool { return c.ID == caseOf(id) })
			_, row, hasRow := strings.Cut(id, ".")
			switch {
			case i < 0:
				wrong("fault %s names check %s, which does not exist", f.Name, id)
			case !slices.Contains(cases[i].Faults, f.Name):
				wrong("fault %s names check %s, which does not name it back", f.Name, id)
			case hasRow && !slices.Contains(cases[i].Rows, row):
				wrong("fault %s names row %s, which the check does not have", f.Name, id)
			}
		}
	}
	return errors.Join(problems...)
}

func caseOf(id string) string { check, _, _ := strings.Cut(id, "."); return check }
