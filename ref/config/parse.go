package config

import (
	"errors"
	"fmt"
	"reflect"
	"strings"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"
)

// maxBytes bounds a configuration; one of 1 000 servers has a few hundred KiB.
const maxBytes = 4 << 20

// maxDepth bounds nesting: the deepest field of a configuration lies at six.
const maxDepth = 32

// ParseSpec reads the contract's JSON (YAML is read as well, since JSON is
// YAML) and validates it. file is for messages only. The error is an [*Error].
func ParseSpec(file string, data []byte) (Spec, error) {
	d := &decoder{file: file, lines: map[string]int{}}
	var spec Spec
	if root := d.parse(data); root != nil {
		d.decode(root, reflect.ValueOf(&spec).Elem(), "")
	}
	names := make([]string, len(spec.Servers))
	for i := range names {
		names[i] = fmt.Sprintf("servers[%d]", i)
	}
	return spec, d.finish(spec, names)
}

// finish validates what was decoded and returns everything found, or nil.
func (d *decoder) finish(spec Spec, servers []string) error {
	v := &validator{decoder: d, spec: spec, servers: servers, decoded: len(d.problems)}
	v.all()
	if len(d.problems) == 0 {
		return nil
	}
	return &Error{Problems: d.sorted()}
}

// parse returns the one document of data, or nil after a problem.
func (d *decoder) parse(data []byte) ast.Node {
	if len(data) > maxBytes {
		d.problem(1, "", fmt.Sprintf("the file has %d bytes", len(data)), fmt.Sprintf("the limit is %d", maxBytes))
		return nil
	}
	if line := tooDeep(data); line > 0 {
		d.problem(line, "", "brackets are nested too deeply", fmt.Sprintf("the limit is %d", maxDepth))
		return nil
	}
	tree, err := parser.ParseBytes(data, 0, parser.AllowDuplicateMapKey())
	if err != nil {
		d.syntax(err)
		return nil
	}
	var bodies []ast.Node
	for _, doc := range tree.Docs {
		if doc.Body != nil {
			bodies = append(bodies, doc.Body)
		}
	}
	switch len(bodies) {
	case 0:
		d.problem(1, "", "the file is empty", "write at least {}")
		return nil
	case 1:
		return bodies[0]
	}
	d.problem(lineOf(bodies[1]), "", "a second document begins here", "keep one document in a file")
	return nil
}

// syntax reports where the text is no YAML, without what goccy quotes of the
// source in its message and beside it: it may hold a secret.
func (d *decoder) syntax(err error) {
	line, message := 1, "not YAML"
	if at, ok := errors.AsType[yaml.Error](err); ok {
		cause, _, _ := strings.Cut(at.GetMessage(), `"`)
		message = "not YAML: " + strings.TrimRight(cause, " :")
		if t := at.GetToken(); t != nil && t.Position != nil {
			line = t.Position.Line
		}
	}
	d.problem(line, "", message, "mend the syntax there")
}

// tooDeep returns the line where brackets nest beyond maxDepth, or 0. It counts
// those in strings too, which nobody nests that deep either; the parser is
// recursive, and a goroutine's stack overflow cannot be recovered from.
func tooDeep(data []byte) int {
	depth, line := 0, 1
	for _, b := range data {
		switch b {
		case '\n':
			line++
		case '[', '{':
			if depth++; depth > maxDepth {
				return line
			}
		case ']', '}':
			depth = max(0, depth-1)
		}
	}
	return 0
}
