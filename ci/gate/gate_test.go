package gate_test

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"bridgecheck/ci/gate"
	"bridgecheck/ci/upstream"
)

// repository is this repository, seen from here.
const repository = "../.."

// upstreams is a git repository with the double of go-arapuca: main has one wrong
// behaviour, and the branch change mends it and has another.
func upstreams(t *testing.T, before, after string) string {
	t.Helper()
	dir := t.TempDir()
	if err := os.CopyFS(dir, os.DirFS(filepath.Join(repository, "ref", "arapuca", "double"))); err != nil {
		t.Fatal(err)
	}
	git := func(args ...string) {
		t.Helper()
		cmd := exec.CommandContext(t.Context(), "git", append([]string{"-C", dir, "-c", "user.name=t", "-c", "user.email=t@t.test", "-c", "commit.gpgsign=false"}, args...)...)
		cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL="+os.DevNull, "GIT_CONFIG_SYSTEM="+os.DevNull)
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("git %v: %v: %s", args, err, out)
		}
	}
	git("init", "-q", "-b", "main")
	plant(t, dir, "", before)
	git("add", ".")
	git("commit", "-q", "-m", "base")
	git("checkout", "-q", "-b", "change")
	plant(t, dir, before, after)
	git("commit", "-q", "-a", "-m", "head")
	return dir
}

// plant makes the double do something else without being told to.
func plant(t *testing.T, dir, from, to string) {
	t.Helper()
	path := filepath.Join(dir, "behaviour", "behaviour.go")
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	old, changed := `const planted = "`+from+`"`, `const planted = "`+to+`"`
	if strings.Count(string(data), old) != 1 {
		t.Fatalf("%s has not one line %s", path, old)
	}
	if err := os.WriteFile(path, []byte(strings.Replace(string(data), old, changed, 1)), 0o600); err != nil {
		t.Fatal(err)
	}
}

// needs skips where the gate cannot run at all.
func needs(t *testing.T) {
	t.Helper()
	if testing.Short() {
		t.Skip("it builds two bridges and judges both")
	}
	for _, tool := range []string{"git", "go"} {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skipf("%s is missing", tool)
		}
	}
	cmd := exec.CommandContext(t.Context(), "/proc/self/exe", "-test.run=^$")
	cmd.SysProcAttr = &syscall.SysProcAttr{
		Cloneflags:  syscall.CLONE_NEWUSER | syscall.CLONE_NEWNET,
		UidMappings: []syscall.SysProcIDMap{{HostID: os.Getuid(), Size: 1}},
		GidMappings: []syscall.SysProcIDMap{{HostID: os.Getgid(), Size: 1}},
	}
	if err := cmd.Run(); err != nil {
		t.Skipf("this host makes no user and network namespace: %v", err)
	}
}

// programs builds bridgecheck and what it needs beside it.
func programs(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	cmd := exec.CommandContext(t.Context(), "go", "build", "-trimpath", "-buildvcs=false", "-o", dir+"/",
		"./suites/cmd/bridgecheck", "./fakes/cmd/probe", "./fakes/cmd/fakemcp", "./fakes/cmd/knob")
	cmd.Dir, cmd.Env = repository, append(os.Environ(), "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("build bridgecheck: %v: %s", err, out)
	}
	return filepath.Join(dir, "bridgecheck")
}

// TestGateOfAChange judges a change of a fake upstream, a checkout whose head
// breaks one thing and mends another.
func TestGateOfAChange(t *testing.T) {
	needs(t)
	// LPB-006 tells a loopback that is down, LIF-010 a death by signal.
	head := upstreams(t, "lo-down", "signal-lost")
	var page, log bytes.Buffer
	code, err := gate.Run(t.Context(), gate.Request{
		GoArapuca: head, Subjects: []string{"ref-arapuca"}, Flags: []string{"--id", "LIF-010,LPB-006"},
		Repository: repository, Program: programs(t), Results: t.TempDir(),
		Cache: upstream.Cache{Dir: t.TempDir()}, Log: &log, Out: &page,
	})
	if err != nil {
		t.Fatalf("%v\n%s", err, &log)
	}
	text := page.String()
	broken, mended, _ := strings.Cut(text, "### Mended by the head")
	for _, tt := range []struct{ part, want string }{
		{broken, "closed: 1 broken"},
		{broken, "### Broken by the head"},
		{broken, "| LIF-010 "},
		{broken, "ref-arapuca-double"},
		{mended, "| LPB-006 "},
		{mended, gate.NotJudged},
	} {
		if !strings.Contains(tt.part, tt.want) {
			t.Errorf("the page has no %q where it belongs", tt.want)
		}
	}
	if code != 1 {
		t.Errorf("exit %d, want 1", code)
	}
	if t.Failed() {
		t.Logf("%s\n%s", text, &log)
	}
}

func TestRefuses(t *testing.T) {
	head := upstreams(t, "", "lo-down")
	if out, err := exec.CommandContext(t.Context(), "git", "-C", head, "tag", "v9.9.9").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	t.Setenv("GO_ARAPUCA_REPOSITORY", head)
	cache := upstream.Cache{Dir: t.TempDir()}
	for _, tt := range []struct {
		name string
		q    gate.Request
		want string
	}{
		{"nothing named", gate.Request{}, "go-arapuca is not named"},
		{"no such folder", gate.Request{GoArapuca: "./none"}, "name an existing folder"},
		{"an unknown subject", gate.Request{GoArapuca: head, Subjects: []string{"ref-native"}}, "not \"ref-native\""},
		{"a base that is not there", gate.Request{GoArapuca: head, Base: "none"}, "BASE=none"},
		{"no change", gate.Request{GoArapuca: head, Base: "change"}, "nothing to compare"},
		{"a release alone", gate.Request{GoArapuca: "v9.9.9"}, "is a release, and no change"},
		{"no change in either", gate.Request{GoArapuca: head, Base: "change", Arapuca: head, ArapucaBase: "change"}, "neither go-arapuca"},
		{"no Go there", gate.Request{GoArapuca: t.TempDir(), Base: t.TempDir()}, "there is no Go package"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			tt.q.Log, tt.q.Out, tt.q.Repository, tt.q.Results = &bytes.Buffer{}, &bytes.Buffer{}, repository, t.TempDir()
			tt.q.Cache = cache
			if code, err := gate.Run(t.Context(), tt.q); err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("%d, %v; want %q", code, err, tt.want)
			}
		})
	}
}
