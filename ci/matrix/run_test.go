package matrix

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"bridgecheck/ci/upstream"
	"bridgecheck/suites/report"
)

// project is a git repository with one commit, tagged.
func project(t *testing.T) string {
	t.Helper()
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("git is missing")
	}
	dir := t.TempDir()
	file(t, filepath.Join(dir, "file"), "text")
	for _, args := range [][]string{{"init", "-q", "-b", "main"}, {"add", "."}, {"commit", "-q", "-m", "one"}, {"tag", "v0.2.8"}} {
		cmd := exec.CommandContext(t.Context(), "git", append([]string{"-C", dir, "-c", "user.name=t", "-c", "user.email=t@t.test", "-c", "commit.gpgsign=false", "-c", "tag.gpgsign=false"}, args...)...)
		cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL="+os.DevNull, "GIT_CONFIG_SYSTEM="+os.DevNull)
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("git %v: %v: %s", args, err, out)
		}
	}
	return dir
}

func file(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o700); err != nil {
		t.Fatal(err)
	}
}

// engine stands in for docker: build looks at its context, run copies what was
// made ready into the folder that is mounted.
const engine = `#!/bin/sh
echo "$@" >> "$0.log"
case $1 in
  build) for last; do :; done; cd "$last" && ls arapuca/file go-arapuca/file bridgecheck/file >/dev/null;;
  run) while [ $# -gt 0 ]; do [ "$1" != --volume ] || dir=${2%:/results}; shift; done; cp -r "$0.results/." "$dir";;
esac
`

func TestRunOfARow(t *testing.T) {
	source := project(t)
	for _, p := range []upstream.Project{upstream.Arapuca, upstream.GoArapuca} {
		t.Setenv(p.Variable(), source)
	}
	row := Row{Name: "a", Why: "w", Arapuca: "v0.2.8", GoArapuca: "v0.2.8", Image: "debian:13", Arch: runtime.GOARCH, Expect: Green}
	if err := checkHost(row, "/"); err != nil {
		t.Skip(err)
	}
	program := filepath.Join(t.TempDir(), "engine")
	file(t, program, engine)
	leave := func(subject string, v report.Verdict) {
		v.Format, v.Subject.Name, v.Cases = report.Format, subject, []report.CaseVerdict{{ID: "ALW-001", Outcome: report.Pass, Red: v.Exit == 1}}
		dir := filepath.Join(program+".results", subject)
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
		if err := report.WriteYAML(filepath.Join(dir, "verdict.yaml"), v); err != nil {
			t.Fatal(err)
		}
	}
	for _, s := range Subjects {
		leave(s, report.Verdict{Result: report.Conformant})
	}
	if err := report.WriteLink(program+".results", report.Link{Binding: report.Part{Name: "go-arapuca"}, Library: report.Part{Name: "arapuca"}}); err != nil {
		t.Fatal(err)
	}
	results := t.TempDir()
	stale := filepath.Join(results, "a", "stale")
	file(t, stale, "")
	var log bytes.Buffer
	runner := Runner{Engine: program, Repository: source, Results: results, Cache: upstream.Cache{Dir: t.TempDir()}, Log: &log, BuildArgs: []string{"RUST=my-rust"}}
	got, err := runner.Run(t.Context(), row)
	if err != nil || got.Red || got.Got != Green {
		t.Fatalf("%+v, %v\n%s", got, err, &log)
	}
	if _, err := os.Stat(stale); err == nil {
		t.Error("what an earlier run left is still there")
	}
	written, err := report.ReadRow(filepath.Join(results, "a"))
	if err != nil || written.Got != Green {
		t.Errorf("row.yaml: %+v, %v", written, err)
	}
	calls, err := os.ReadFile(program + ".log")
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"--build-arg BASE=debian:13 --build-arg RUST=my-rust", "run --rm --privileged --network none", strings.Join(Subjects, " ")} {
		if !strings.Contains(string(calls), want) {
			t.Errorf("the engine was not called with %q:\n%s", want, calls)
		}
	}

	leave(Subjects[0], report.Verdict{Result: report.NonConformant, Exit: report.ExitNot})
	if got, err := runner.Run(t.Context(), row); err != nil || !got.Red || got.Because != "red, where green is expected: "+Subjects[0]+": ALW-001" {
		t.Errorf("a red subject: %+v, %v", got, err)
	}
	leave(Subjects[0], report.Verdict{Result: report.InvalidRun, Exit: report.ExitHarness, Problems: []string{"crash"}})
	if got, err := runner.Run(t.Context(), row); err == nil || !strings.Contains(err.Error(), "crash") {
		t.Errorf("an invalid verdict: %+v, %v", got, err)
	}
	runner.Engine = filepath.Join(t.TempDir(), "none")
	if got, err := runner.Run(t.Context(), row); err == nil {
		t.Errorf("no engine: %+v", got)
	}
}

// TestJudge has a row for each result against each kind of expectation.
func TestJudge(t *testing.T) {
	for _, tt := range []struct {
		name          string
		exits         []int
		unlinked      bool
		informational bool
		expect, got   string
		red           bool
	}{
		{"green, as expected", []int{0, 0, 0}, false, false, Green, Green, false},
		{"red, and green is expected", []int{0, 1, 0}, false, false, Green, Red, true},
		{"red, as expected", []int{1, 1, 0}, false, false, Red, Red, false},
		{"green, and red is expected", []int{0, 0, 0}, false, false, Red, Green, true},
		{"blocked, as expected", []int{3, 3, 3}, false, false, Blocked, Blocked, false},
		{"blocked and wrong", []int{3, 1, 3}, false, false, Blocked, Red, true},
		{"wrong and blocked", []int{1, 3, 3}, false, false, Blocked, Red, true},
		{"does not link, as expected", nil, true, false, DoesNotLink, DoesNotLink, false},
		{"does not link", nil, true, false, Green, DoesNotLink, true},
		{"links, and that is news", []int{0, 0, 0}, false, false, DoesNotLink, Green, true},
		{"the tip is red, and only informs", []int{1, 0, 0}, false, true, Green, Red, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			dir := t.TempDir()
			l := report.Link{Binding: report.Part{Name: "go-arapuca"}, Library: report.Part{Name: "arapuca"}}
			if tt.unlinked {
				l.Missing = []string{"arapuca_launch"}
			}
			if err := report.WriteLink(dir, l); err != nil {
				t.Fatal(err)
			}
			for i, exit := range tt.exits {
				v := report.Verdict{Format: report.Format, Result: report.Conformant, Exit: exit, Cases: []report.CaseVerdict{{ID: "ALW-001", Red: exit != 0}}}
				if err := os.MkdirAll(filepath.Join(dir, Subjects[i]), 0o755); err != nil {
					t.Fatal(err)
				}
				if err := report.WriteYAML(filepath.Join(dir, Subjects[i], "verdict.yaml"), v); err != nil {
					t.Fatal(err)
				}
			}
			got, err := judge(Row{Name: "a", Expect: tt.expect, Informational: tt.informational}, dir)
			if err != nil || got.Got != tt.got || got.Red != tt.red || (got.Because == "") != (tt.got == Green && tt.expect == Green) {
				t.Errorf("%+v, %v; want %s, red %v", got, err, tt.got, tt.red)
			}
		})
	}
	if got, err := judge(Row{Name: "a"}, t.TempDir()); err == nil {
		t.Errorf("an empty folder: %+v", got)
	}
}

func TestStatus(t *testing.T) {
	dir := t.TempDir()
	for _, r := range []report.Row{{Name: "a", Red: true, Because: "red"}, {Name: "b"}} {
		if err := os.MkdirAll(filepath.Join(dir, r.Name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := report.WriteRow(filepath.Join(dir, r.Name), r); err != nil {
			t.Fatal(err)
		}
	}
	states, err := Status([]Row{{Name: "a"}, {Name: "b"}, {Name: "c"}}, dir)
	if err != nil || len(states) != 3 || states[0].Red == nil || !*states[0].Red || states[1].Red == nil || *states[1].Red || states[2].Red != nil {
		t.Errorf("%+v, %v", states, err)
	}
}

func TestCheckHost(t *testing.T) {
	const restrict, enforce = "proc/sys/kernel/apparmor_restrict_unprivileged_userns", "sys/fs/selinux/enforce"
	for _, tt := range []struct {
		name  string
		host  []string
		files map[string]string
		want  string
	}{
		{"nothing asked, nothing there", nil, nil, ""},
		{"nothing asked, restricted", nil, map[string]string{restrict: "1\n"}, "apparmor_restrict_unprivileged_userns=0"},
		{"nothing asked, lifted", nil, map[string]string{restrict: "0\n"}, ""},
		{"restricted, as asked", []string{UsernsRestricted}, map[string]string{restrict: "1\n"}, ""},
		{"restriction asked, lifted", []string{UsernsRestricted}, map[string]string{restrict: "0\n"}, "apparmor_restrict_unprivileged_userns=1"},
		{"enforcing, as asked", []string{SELinux}, map[string]string{enforce: "1"}, ""},
		{"SELinux asked, permissive", []string{SELinux}, map[string]string{enforce: "0"}, "setenforce 1"},
		{"SELinux asked, none", []string{SELinux}, nil, "setenforce 1"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			root := t.TempDir()
			for path, text := range tt.files {
				file(t, filepath.Join(root, path), text)
			}
			err := checkHost(Row{Arch: runtime.GOARCH, Host: tt.host}, root)
			if (err == nil) != (tt.want == "") || err != nil && (!errors.Is(err, ErrHost) || !strings.Contains(err.Error(), tt.want)) {
				t.Errorf("%v, want %q", err, tt.want)
			}
		})
	}
	if err := checkHost(Row{Arch: "s390x"}, t.TempDir()); !errors.Is(err, ErrHost) {
		t.Errorf("another architecture: %v", err)
	}
}
