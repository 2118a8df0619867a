// Package matrix reads ci/matrix.yaml and runs its rows, each by itself: any
// engine that can count can spread them.
package matrix

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"

	"bridgecheck/ci/upstream"
)

// Row is one row of the matrix. The comment that begins ci/matrix.yaml says what
// each field means.
type Row struct {
	Name          string   `yaml:"name" json:"name"`
	Why           string   `yaml:"why" json:"why"`
	Arapuca       string   `yaml:"arapuca" json:"arapuca"`
	GoArapuca     string   `yaml:"go-arapuca" json:"go_arapuca"`
	Image         string   `yaml:"image" json:"image"`
	Arch          string   `yaml:"arch" json:"arch"`
	Host          []string `yaml:"host" json:"host,omitempty"`
	Expect        string   `yaml:"expect" json:"expect"`
	Informational bool     `yaml:"informational" json:"informational,omitempty"`
}

// Results that a row can be expected to have.
const (
	Green       = "green"
	Red         = "red"
	DoesNotLink = "does-not-link"
	Blocked     = "blocked"
)

// What a host must have.
const (
	SELinux          = "selinux"
	UsernsRestricted = "userns-restricted"
)

var (
	expectations  = []string{Green, Red, DoesNotLink, Blocked}
	hosts         = []string{SELinux, UsernsRestricted}
	architectures = []string{"amd64", "arm64"}
	name          = regexp.MustCompile(`^[a-z0-9][a-z0-9.-]{0,59}$`)
	// image has no host: where images come from is the engine's configuration.
	image = regexp.MustCompile(`^[a-z0-9]+([._-][a-z0-9]+)*:[0-9A-Za-z_][0-9A-Za-z_.-]*$`)
)

// Parse reads a matrix. An unknown key, a version that moves in a row that gates,
// and a row that stands twice are errors; each names its line.
func Parse(data []byte) ([]Row, error) {
	var file struct {
		Rows []Row `yaml:"rows"`
	}
	if err := yaml.UnmarshalWithOptions(data, &file, yaml.Strict()); err != nil {
		return nil, fmt.Errorf("matrix: %w", err) // it has the line, and shows it
	}
	tree, err := parser.ParseBytes(data, 0)
	if err != nil {
		return nil, fmt.Errorf("matrix: %w", err)
	}
	if len(file.Rows) == 0 {
		return nil, fmt.Errorf("matrix: there is no row; write at least one below rows")
	}
	seen := map[string]int{}
	for i, r := range file.Rows {
		if field, text := r.problem(); text != "" {
			return nil, fmt.Errorf("matrix: line %d: row %q: %s", lineOf(tree, i, field), r.Name, text)
		}
		for _, key := range []string{"name " + r.Name, r.run()} {
			if first, twice := seen[key]; twice {
				return nil, fmt.Errorf("matrix: line %d: row %q is the same as the one in line %d (%s); remove one", lineOf(tree, i, ""), r.Name, lineOf(tree, first, ""), key)
			}
			seen[key] = i
		}
	}
	return file.Rows, nil
}

// run is what the row runs, apart from its name and what is expected.
func (r Row) run() string {
	return strings.Join(append([]string{"arapuca " + r.Arapuca, "go-arapuca " + r.GoArapuca, r.Image, r.Arch}, r.Host...), ", ")
}

// problem is the first thing wrong with a row, and the field it is in.
func (r Row) problem() (field, text string) {
	switch {
	case !name.MatchString(r.Name):
		return "name", "a name has small letters, digits, dots and hyphens, and at most 60 of them"
	case r.Why == "":
		return "", "give why: what does this row show that the others do not?"
	case !image.MatchString(r.Image):
		return "image", fmt.Sprintf("image is %q; write NAME:TAG without a host, such as debian:13", r.Image)
	case !slices.Contains(architectures, r.Arch):
		return "arch", fmt.Sprintf("arch is %q; it is one of %s", r.Arch, strings.Join(architectures, ", "))
	case !slices.Contains(expectations, r.Expect):
		return "expect", fmt.Sprintf("expect is %q; it is one of %s", r.Expect, strings.Join(expectations, ", "))
	}
	for _, h := range r.Host {
		if !slices.Contains(hosts, h) {
			return "host", fmt.Sprintf("host has %q; it is a list of %s", h, strings.Join(hosts, ", "))
		}
	}
	for _, part := range [][2]string{{"arapuca", r.Arapuca}, {"go-arapuca", r.GoArapuca}} {
		field, version := part[0], part[1]
		s, err := upstream.Parse(upstream.Project{Name: field}, version)
		switch {
		case err != nil:
			return field, err.Error()
		case s.Kind == upstream.Checkout:
			return field, "a row is the same on every machine; name a version, not a folder"
		case !s.Pinned() && !r.Informational:
			return field, fmt.Sprintf("%s moves; pin a release or a whole commit, or make the row informational", version)
		}
	}
	return "", ""
}

// lineOf is the line of a field of row i, or of the row where it has none.
func lineOf(tree *ast.File, i int, field string) int {
	for _, at := range []string{"." + field, ""} {
		path, err := yaml.PathString(fmt.Sprintf("$.rows[%d]%s", i, at))
		if at == "." || err != nil {
			continue
		}
		if node, err := path.FilterFile(tree); err == nil && node != nil {
			return node.GetToken().Position.Line
		}
	}
	return 0
}
