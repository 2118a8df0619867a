package ci_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// TestContainerfiles: what no linter is needed for. Bases are arguments without a
// host, stages are there before they are copied from, and so is every file and
// package of this repository that is named.
func TestContainerfiles(t *testing.T) {
	files, err := filepath.Glob("../containers/images/*/Containerfile")
	if err != nil || len(files) == 0 {
		t.Fatalf("no Containerfiles: %v", err)
	}
	from := regexp.MustCompile(`^FROM \$\{([A-Z]+)\}(?: AS ([a-z]+))?$`)
	arg := regexp.MustCompile(`^ARG ([A-Z]+)=[a-z0-9]+([._-][a-z0-9]+)*:[0-9A-Za-z_.-]+$`)
	source := regexp.MustCompile(`bridgecheck/(containers/\S+)|\s\./((?:ci|ref|suites|fakes)/[\w/-]+)`)
	for _, path := range files {
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		var args, stages []string
		for line := range strings.SplitSeq(string(data), "\n") {
			switch word, _, _ := strings.Cut(line, " "); word {
			case "ARG":
				m := arg.FindStringSubmatch(line)
				if m == nil {
					t.Fatalf("%s: %s: a base is NAME:TAG without a host", path, line)
				}
				args = append(args, m[1])
			case "FROM":
				m := from.FindStringSubmatch(line)
				if m == nil || !slices.Contains(args, m[1]) {
					t.Fatalf("%s: %s: the base is no argument", path, line)
				}
				stages = append(stages, m[2])
			}
			if _, stage, ok := strings.Cut(line, "--from="); ok {
				stage, _, _ = strings.Cut(stage, " ")
				if !slices.Contains(stages, stage) {
					t.Errorf("%s: %s: there is no stage %s before it", path, line, stage)
				}
			}
			if strings.HasPrefix(line, "#") {
				continue
			}
			for _, m := range source.FindAllStringSubmatch(line, -1) {
				if _, err := os.Stat(filepath.Join("..", m[1]+m[2])); err != nil {
					t.Errorf("%s: %s: %v", path, line, err)
				}
			}
		}
	}
}

// TestRowScript runs what an image runs, with a program in the place of bridgecheck.
func TestRowScript(t *testing.T) {
	dir, results := t.TempDir(), t.TempDir()
	put := func(name, text string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	script, err := os.ReadFile("../containers/images/arapuca/row.sh")
	if err != nil {
		t.Fatal(err)
	}
	put("row.sh", string(script))
	put("link.yaml", "the link\n")
	put("a", "")
	put("b", "")
	put("bridgecheck", `#!/bin/sh
while [ $# -gt 0 ]; do [ "$1" != --subject ] || subject=${2##*/}; [ "$1" != --results ] || results=$2; shift; done
mkdir -p "$results/$subject"
[ -n "$SILENT" ] || echo verdict > "$results/$subject/verdict.yaml"
exit 1
`)
	run := func(env ...string) (string, error) {
		cmd := exec.CommandContext(t.Context(), "sh", filepath.Join(dir, "row.sh"), "a", "not-built", "b")
		cmd.Env = append(append(os.Environ(), "RESULTS="+results), env...)
		out, err := cmd.CombinedOutput()
		return string(out), err
	}
	// A red subject does not end the row, and one that was not built is left out.
	if out, err := run(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	for _, name := range []string{"link.yaml", "a/verdict.yaml", "b/verdict.yaml"} {
		if _, err := os.Stat(filepath.Join(results, name)); err != nil {
			t.Error(err)
		}
	}
	if _, err := os.Stat(filepath.Join(results, "not-built")); err == nil {
		t.Error("what was not built was judged")
	}
	if err := os.RemoveAll(filepath.Join(results, "a")); err != nil {
		t.Fatal(err)
	}
	if out, err := run("SILENT=1"); err == nil || !strings.Contains(out, "a left no verdict (exit 1)") {
		t.Errorf("no verdict: %v: %s", err, out)
	}
}
