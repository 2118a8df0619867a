package ci_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

// goPackage is what `go list -json` tells of a package.
type goPackage struct {
	ImportPath                         string
	Imports, TestImports, XTestImports []string
	Deps                               []string
}

const module = "bridgecheck/"

// rule forbids packages (and everything below them) to those that `of` selects.
type rule struct {
	name   string
	of     func(path string) bool
	forbid func(path, dep string) bool
	// direct looks at the imports alone, those of tests too; otherwise the rule
	// holds for everything that is reached through others as well.
	direct bool
}

func below(path string, roots ...string) bool {
	return slices.ContainsFunc(roots, func(root string) bool {
		root = strings.TrimSuffix(root, "/")
		return path == root || strings.HasPrefix(path, root+"/")
	})
}

func under(roots ...string) func(string) bool {
	return func(path string) bool { return below(path, roots...) }
}

func none(roots ...string) func(string, string) bool {
	return func(_, dep string) bool { return below(dep, roots...) }
}

// shared are the packages below suites that are no area.
var shared = []string{
	module + "suites/subject", module + "suites/catalog", module + "suites/kit", module + "suites/report",
	module + "suites/mutants", module + "suites/runner", module + "suites/lab", module + "suites/cmd",
}

// area returns the area that the package belongs to, empty for none.
func area(path string) string {
	rest, ok := strings.CutPrefix(path, module+"suites/")
	if !ok || below(path, shared...) {
		return ""
	}
	name, _, _ := strings.Cut(rest, "/")
	return name
}

var mcpLibraries = []string{"github.com/mark3labs/mcp-go", "github.com/modelcontextprotocol/go-sdk"}

// rules are the dependency rules of the design. The oracle shares no code with
// what it judges: that is why neither side may reach the other.
var rules = []rule{
	{
		"ref imports neither fakes nor suites nor an MCP library", under(module + "ref"),
		none(append([]string{module + "fakes", module + "suites", module + "containers", module + "ci"}, mcpLibraries...)...), false,
	},
	// In ref's tests an MCP library is the oracle that ref is held against.
	{"ref's tests import neither fakes nor suites", under(module + "ref"), none(module+"fakes", module+"suites"), true},
	{"fakes imports neither ref nor suites", under(module + "fakes"), none(module+"ref", module+"suites"), false},
	{"fakes' tests import neither ref nor suites", under(module + "fakes"), none(module+"ref", module+"suites"), true},
	{"nothing of suites reaches ref", under(module + "suites"), none(module + "ref"), false},
	{"no test of suites imports ref", under(module + "suites"), none(module + "ref"), true},
	{
		"an area reaches no other area", func(path string) bool { return area(path) != "" },
		func(path, dep string) bool { return area(dep) != "" && area(dep) != area(path) }, false,
	},
	{
		"what areas share reaches no area", under(module+"suites/kit", module+"suites/lab", module+"suites/report", module+"suites/runner"),
		func(_, dep string) bool { return area(dep) != "" }, false,
	},
	{"suites/subject is a leaf", under(module + "suites/subject"), none(module, "github.com/onsi"), false},
	{
		"suites/catalog knows suites/subject alone", under(module + "suites/catalog"),
		func(_, dep string) bool {
			return below(dep, module, "github.com/onsi") && dep != module+"suites/subject"
		}, false,
	},
	{"containers imports no suites", under(module + "containers"), none(module + "suites"), false},
}

// violations evaluates the rules.
func violations(packages []goPackage, rules []rule) []string {
	var found []string
	for _, p := range packages {
		for _, r := range rules {
			if !r.of(p.ImportPath) {
				continue
			}
			deps := p.Deps
			if r.direct {
				deps = slices.Concat(p.Imports, p.TestImports, p.XTestImports)
			}
			for _, dep := range deps {
				// a package's own tests import it, and a package below it is its own
				if dep != p.ImportPath && r.forbid(p.ImportPath, dep) {
					found = append(found, fmt.Sprintf("%s: %s reaches %s", r.name, p.ImportPath, dep))
				}
			}
		}
	}
	return found
}

func goList(t *testing.T) []goPackage {
	t.Helper()
	if _, err := exec.LookPath("go"); err != nil {
		t.Skip("there is no go command to list packages with")
	}
	cmd := exec.CommandContext(t.Context(), "go", "list", "-e", "-json=ImportPath,Imports,TestImports,XTestImports,Deps", "./...")
	cmd.Dir = ".."
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	var packages []goPackage
	for d := json.NewDecoder(strings.NewReader(string(out))); ; {
		var p goPackage
		if err := d.Decode(&p); errors.Is(err, io.EOF) {
			return packages
		} else if err != nil {
			t.Fatal(err)
		}
		packages = append(packages, p)
	}
}

func TestDependencyRules(t *testing.T) {
	packages := goList(t)
	for _, root := range []string{"ref", "suites", "fakes"} {
		if !slices.ContainsFunc(packages, func(p goPackage) bool { return below(p.ImportPath, module+root) }) {
			t.Errorf("go list shows no package below %s; the rules would hold for nothing", root)
		}
	}
	for _, v := range violations(packages, rules) {
		t.Error(v)
	}
}

// TestRulesCanFail breaks each rule once, and keeps to them once.
func TestRulesCanFail(t *testing.T) {
	for _, tc := range []struct {
		rule, path, dep string
		test            bool // the import is a test's
		broken          bool
	}{
		{"ref imports", "ref/egress", "fakes/dns", false, true},
		{"ref imports", "ref", "suites/subject", false, true},
		{"ref imports", "ref/adapter", "github.com/mark3labs/mcp-go/mcp", false, true},
		{"ref imports", "ref/adapter", "ref/event", false, false},
		{"ref imports", "reference", "fakes/dns", false, false},
		{"ref's tests", "ref/adapter", "fakes/mcp", true, true},
		{"ref's tests", "ref/adapter", "ref/event", true, false},
		{"fakes imports", "fakes/probe", "ref/event", false, true},
		{"fakes imports", "fakes/probe", "fakes/attempt", false, false},
		{"fakes' tests", "fakes/probe", "suites/kit", true, true},
		{"nothing of suites", "suites/cmd/bridgecheck", "ref", false, true},
		{"nothing of suites", "suites/allowlist", "suites/kit", false, false},
		{"no test of suites", "suites/kit", "ref/event", true, true},
		{"an area", "suites/allowlist", "suites/escape", false, true},
		{"an area", "suites/allowlist/rows", "suites/allowlist", false, false},
		{"an area", "suites/allowlist", "suites/kit", false, false},
		{"an area", "suites/cmd/bridgecheck", "suites/escape", false, false},
		{"what areas share", "suites/kit", "suites/escape", false, true},
		{"suites/subject is", "suites/subject", "suites/catalog", false, true},
		{"suites/subject is", "suites/subject", "github.com/onsi/ginkgo/v2", false, true},
		{"suites/subject is", "suites/subject", "github.com/google/jsonschema-go/jsonschema", false, false},
		{"suites/catalog knows", "suites/catalog", "suites/kit", false, true},
		{"suites/catalog knows", "suites/catalog", "suites/subject", false, false},
		{"containers imports", "containers", "suites/report", false, true},
		{"containers imports", "containers", "fakes/attempt", false, false},
	} {
		full := func(p string) string {
			if strings.Contains(p, ".") {
				return p
			}
			return module + p
		}
		p := goPackage{ImportPath: full(tc.path), Deps: []string{full(tc.dep)}}
		if tc.test {
			p = goPackage{ImportPath: full(tc.path), XTestImports: []string{full(tc.dep)}}
		}
		i := slices.IndexFunc(rules, func(r rule) bool { return strings.HasPrefix(r.name, tc.rule) })
		if i < 0 {
			t.Fatalf("there is no rule %q", tc.rule)
		}
		if got := violations([]goPackage{p}, rules[i:i+1]); (len(got) > 0) != tc.broken {
			t.Errorf("%s -> %s under %q: %q, want broken %v", tc.path, tc.dep, rules[i].name, got, tc.broken)
		}
	}
}
