package gate

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"bridgecheck/ci/upstream"
	"bridgecheck/suites/report"
)

// commit writes files into a git repository and commits them.
func commit(t *testing.T, dir, branch string, files map[string]string) {
	t.Helper()
	for name, text := range files {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	for _, args := range [][]string{{"init", "-q", "-b", branch}, {"checkout", "-q", "-B", branch}, {"add", "."}, {"commit", "-q", "-m", branch}} {
		cmd := exec.CommandContext(t.Context(), "git", append([]string{"-C", dir, "-c", "user.name=t", "-c", "user.email=t@t.test", "-c", "commit.gpgsign=false"}, args...)...)
		cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL="+os.DevNull, "GIT_CONFIG_SYSTEM="+os.DevNull)
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("git %v: %v: %s", args, err, out)
		}
	}
}

// empty is a static library that defines nothing.
const empty = "!<arch>\n/                                               4         `\n\x00\x00\x00\x00"

// TestPairedChange: with a change of each project, each side has the library of its
// own side, what was built of a commit is kept, and what does not fit is told.
func TestPairedChange(t *testing.T) {
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("git is missing")
	}
	binding := func(functions string) map[string]string {
		return map[string]string{"arapuca.go": "package arapuca\n\nimport \"C\"\n\nfunc f() { " + functions + " }\n"}
	}
	goArapuca, arapuca, repository, bin := t.TempDir(), t.TempDir(), t.TempDir(), t.TempDir()
	commit(t, goArapuca, "main", binding("C.arapuca_launch()"))
	commit(t, goArapuca, "change", binding("C.arapuca_launch(); C.arapuca_set_exec()"))
	commit(t, arapuca, "main", map[string]string{"version": "0.2.6"})
	commit(t, arapuca, "change", map[string]string{"version": "0.2.7"})
	// The script that builds the library, and pkg-config, as far as they are asked.
	commit(t, repository, "main", map[string]string{"containers/images/arapuca/library.sh": `
echo "$1" >> "$0.log"
mkdir -p "$2/lib/pkgconfig" "$2/bin"
cp "$1/version" "$2/lib/pkgconfig/version"
cp "$0.a" "$2/lib/libarapuca.a"
printf '#!/bin/sh\necho arapuca %s >&2\n' "$(cat "$1/version")" > "$2/bin/arapuca"
chmod +x "$2/bin/arapuca"
`, "containers/images/arapuca/library.sh.a": empty})
	commit(t, bin, "main", map[string]string{"pkg-config": `#!/bin/sh
dir=${PKG_CONFIG_PATH%%:*}
case $1 in --modversion) cat "$dir/version";; *) echo "${dir%/pkgconfig}";; esac
`})
	t.Setenv("PATH", bin+":"+os.Getenv("PATH"))
	t.Setenv("GO_ARAPUCA_REPOSITORY", goArapuca)
	t.Setenv("ARAPUCA_REPOSITORY", arapuca)
	for _, dir := range []string{goArapuca, arapuca} { // the default branch of a clone is the one checked out
		cmd := exec.CommandContext(t.Context(), "git", "-C", dir, "checkout", "-q", "main")
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
	}
	cache, results := t.TempDir(), t.TempDir()
	for range 2 {
		var page, log bytes.Buffer
		code, err := Run(t.Context(), Request{
			GoArapuca: "change", Arapuca: "change", Subjects: upstream.Subjects, Repository: repository, Program: answers(t, "echo 4"),
			Results: results, Cache: upstream.Cache{Dir: cache}, Log: &log, Out: &page,
		})
		if err != nil || code != report.ExitHarness || strings.Count(page.String(), "page of") != 1 {
			t.Fatalf("%d, %v\n%s\n%s", code, err, &page, &log)
		}
	}
	for side, want := range map[string]string{
		"base": "missing in arapuca 0.2.6: arapuca_launch",
		"head": "missing in arapuca 0.2.7: arapuca_launch, arapuca_set_exec",
	} {
		l, err := report.ReadLink(filepath.Join(results, side))
		if err != nil || l == nil || !strings.HasSuffix(l.Text(), want) {
			t.Errorf("%s: %+v, %v; want %s", side, l, err, want)
		}
	}
	built, err := os.ReadFile(filepath.Join(repository, "containers/images/arapuca/library.sh.log"))
	if err != nil || strings.Count(string(built), "\n") != 2 {
		t.Errorf("the library was built for %q, %v; want each commit once", built, err)
	}
}
