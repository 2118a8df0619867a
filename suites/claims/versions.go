package claims

import (
	"context"
	"debug/buildinfo"
	"fmt"
	"maps"
	"os/exec"
	"path"
	"regexp"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"bridgecheck/suites/catalog"
	"bridgecheck/suites/kit"
)

var _ = kit.Check(catalog.Case{
	ID:     "CAP-004",
	Title:  "tells the versions that are linked or executed",
	Must:   "A version told of a linked module, of the toolchain or of a program in PATH MUST be the one that is linked or executed, and MUST be told again.",
	Level:  catalog.Security,
	Clause: "12.4",
	Faults: []string{"toolchain-misnamed"},
	Why:    "A verdict is about versions: with a wrong one it speaks of another sandbox, and a library that is newer than its helper goes unseen.",
}, func(ctx context.Context, t *kit.T) {
	own, _ := debug.ReadBuildInfo()
	t.Control("a version that this harness is not linked with is noticed",
		len(compare(ctx, map[string]string{"go": own.GoVersion + ".1"}, own).differ), kit.Be(1))
	t.Control("and the one it is linked with is taken", compare(ctx, map[string]string{"go": own.GoVersion}, own).same, kit.Be([]string{"go"}))

	description, err := t.Describe(ctx)
	t.Attempt("problems of the description", problem(err), kit.BeNone())
	t.Attempt("versions told now", description.Versions, kit.Be(t.Subject().Versions))
	linked, _ := buildinfo.ReadFile(t.Executable()) // a program of another language has no record
	found := compare(ctx, description.Versions, linked)
	t.Attempt("versions told that are not those linked or executed", found.differ, kit.BeNone())
	if len(found.same) == 0 {
		t.NotApplicable("none of %s is linked into the subject by name, or a program in PATH",
			strings.Join(slices.Sorted(maps.Keys(description.Versions)), ", "))
	}
})

// comparison is what could be looked up from outside.
type comparison struct{ same, differ []string }

// compare looks each version up: in the record that the Go linker left in the
// executable, and else from the program of that name. What neither knows, as
// the subject's own version, is left out.
func compare(ctx context.Context, told map[string]string, linked *debug.BuildInfo) comparison {
	found := comparison{same: []string{}, differ: []string{}}
	for _, name := range slices.Sorted(maps.Keys(told)) {
		is, known := linkedVersion(linked, name)
		same := strings.TrimPrefix(is, "v") == strings.TrimPrefix(told[name], "v")
		if !known {
			is, known = executedVersion(ctx, name)
			same = contains(is, told[name])
		}
		switch {
		case !known:
		case same:
			found.same = append(found.same, name)
		default:
			found.differ = append(found.differ, fmt.Sprintf("%s is told as %s and is %s", name, told[name], is))
		}
	}
	return found
}

var major = regexp.MustCompile(`/v[0-9]+$`)

// linkedVersion finds the toolchain by "go", and a module by its path or by the
// last word of it.
func linkedVersion(linked *debug.BuildInfo, name string) (string, bool) {
	if linked == nil {
		return "", false
	}
	if name == "go" {
		return linked.GoVersion, true
	}
	for _, m := range linked.Deps {
		if name == m.Path || name == path.Base(major.ReplaceAllString(m.Path, "")) {
			if m.Replace != nil {
				m = m.Replace
			}
			return m.Version, m.Version != ""
		}
	}
	return "", false
}

// executedVersion is the first line that a program in PATH prints of itself.
func executedVersion(ctx context.Context, name string) (string, bool) {
	program, err := exec.LookPath(name)
	if err != nil || strings.Contains(name, "/") {
		return "", false
	}
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	out, err := exec.CommandContext(ctx, program, "--version").Output()
	line, _, _ := strings.Cut(string(out), "\n")
	return line, err == nil && line != ""
}

// contains finds the version as a whole word: 0.8 is not in 0.8.0.
func contains(line, version string) bool {
	whole := regexp.MustCompile(`(^|[^0-9A-Za-z.])v?` + regexp.QuoteMeta(strings.TrimPrefix(version, "v")) + `($|[^-+0-9A-Za-z.])`)
	return version != "" && whole.MatchString(line)
}
