// Package link tells whether a checkout of go-arapuca can be linked with a built
// libarapuca: every C function it calls has to be in the library, and the program
// that the library runs has to be of the library's version. Version tables in
// documents were wrong before; symbols are not.
package link

import (
	"fmt"
	"go/ast"
	"go/build"
	"go/parser"
	"go/token"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// prefix is what every function of the library's ABI begins with.
const prefix = "arapuca_"

// Needs returns the functions of the ABI that the Go files in dir call when they
// are built for Linux with cgo, sorted. Calls in the C text before import "C" count
// too. A folder without any is an error: it is no binding.
func Needs(dir string) ([]string, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, fmt.Errorf("read the binding: %w", err)
	}
	target := build.Default
	target.GOOS, target.CgoEnabled = "linux", true
	found := map[string]bool{}
	for _, e := range entries {
		name := e.Name()
		if !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") {
			continue
		}
		if match, err := target.MatchFile(dir, name); err != nil {
			return nil, fmt.Errorf("read the binding: %w", err)
		} else if !match {
			continue
		}
		if err := calls(filepath.Join(dir, name), found); err != nil {
			return nil, err
		}
	}
	if len(found) == 0 {
		return nil, fmt.Errorf("no Go file in %s calls C.%s…: name the folder of go-arapuca's package", dir, prefix)
	}
	return slices.Sorted(maps.Keys(found)), nil
}

var cCall = regexp.MustCompile(`\b` + prefix + `\w+\s*\(`)

// cNoise are the parts of C text in which a call is none.
var cNoise = regexp.MustCompile(`(?s)/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"`)

func calls(path string, found map[string]bool) error {
	file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ParseComments)
	if err != nil {
		return fmt.Errorf("read the binding: %w", err)
	}
	ast.Inspect(file, func(n ast.Node) bool {
		call, ok := n.(*ast.CallExpr)
		if !ok {
			return true
		}
		if f, ok := call.Fun.(*ast.SelectorExpr); ok && isC(f.X) && strings.HasPrefix(f.Sel.Name, prefix) {
			found[f.Sel.Name] = true
		}
		return true
	})
	for _, match := range cCall.FindAllString(cNoise.ReplaceAllString(preamble(file), " "), -1) {
		found[strings.TrimRight(match, " \t\r\n(")] = true
	}
	return nil
}

func isC(x ast.Expr) bool {
	id, ok := x.(*ast.Ident)
	return ok && id.Name == "C"
}

// preamble is the comment that stands before import "C" (cmd/cgo), empty for none.
func preamble(file *ast.File) string {
	for _, d := range file.Decls {
		g, ok := d.(*ast.GenDecl)
		if !ok {
			continue
		}
		for _, s := range g.Specs {
			imported, ok := s.(*ast.ImportSpec)
			if !ok || imported.Path.Value != `"C"` {
				continue
			}
			if imported.Doc == nil && len(g.Specs) == 1 {
				return text(g.Doc)
			}
			return text(imported.Doc)
		}
	}
	return ""
}

// text is a comment as it stands: CommentGroup.Text drops what looks like a
// directive.
func text(doc *ast.CommentGroup) string {
	if doc == nil {
		return ""
	}
	var b strings.Builder
	for _, c := range doc.List {
		line, isLine := strings.CutPrefix(c.Text, "//")
		if !isLine {
			line = strings.TrimSuffix(strings.TrimPrefix(c.Text, "/*"), "*/")
		}
		b.WriteString(line + "\n")
	}
	return b.String()
}
