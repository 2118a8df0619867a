package cli

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"bridgecheck/ref"
	"bridgecheck/ref/event"
	"bridgecheck/ref/plan"
)

// command is the name under which this test binary is the program.
const command = "refbridge"

func TestMain(m *testing.M) {
	asLaunched()
	ref.Main()
	patience = 200 * time.Millisecond
	if os.Args[0] == command {
		if err := poorer(); err != nil {
			panic(err)
		}
		Main("", nil)
	}
	os.Exit(m.Run())
}

// program is a run of refbridge in a directory of its own.
func program(t *testing.T, args ...string) *exec.Cmd {
	t.Helper()
	cmd := exec.Command("/proc/self/exe", args...)
	cmd.Args[0] = command
	cmd.Dir = t.TempDir()
	cmd.Env = append(os.Environ(), "GORACE=atexit_sleep_ms=0", "TMPDIR="+t.TempDir())
	return cmd
}

func run(t *testing.T, cmd *exec.Cmd) (code int, stdout, stderr string) {
	t.Helper()
	var out, errOut bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errOut
	err := cmd.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	return cmd.ProcessState.ExitCode(), out.String(), errOut.String()
}

func write(t *testing.T, cmd *exec.Cmd, name, text string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(cmd.Dir, name), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func needNamespaces(t *testing.T) {
	t.Helper()
	if host, err := ref.Probe(context.Background()); err != nil || host != (plan.Host{}) {
		t.Skipf("this host makes no sandbox: %+v, %v", host, err)
	}
}

func TestDescribe(t *testing.T) {
	code, out, stderr := run(t, program(t, "describe"))
	var d ref.Description
	if err := json.Unmarshal([]byte(out), &d); err != nil || code != 0 || stderr != "" {
		t.Fatalf("exit %d, %v, stderr %q", code, err, stderr)
	}
	if d.Protocol != 1 || d.Name != "ref-native" || d.Versions["refbridge"] == "" || len(d.Capabilities) == 0 {
		t.Errorf("description = %+v", d)
	}
}

func TestUsage(t *testing.T) {
	for args, want := range map[string]string{
		"run":                                "either -c FILE",
		"run -c a --spec b":                  "either -c FILE",
		"run --spec a -- sh":                 "remove the command",
		"run -c soda.yaml":                   "no command is given",
		"run --spec no.json":                 "no such file",
		"run --spec no.json --control 1":     "standard stream",
		"run --spec no.json --control 99":    "open it in the caller",
		"run --spec no.json --events no/dir": "no such file",
		"run --nonsense":                     "unknown flag",
		"dance":                              "unknown command",
	} {
		code, out, stderr := run(t, program(t, strings.Fields(args)...))
		if code != 125 || out != "" || !strings.Contains(stderr, want) {
			t.Errorf("%s: exit %d, stdout %q, stderr %q; want 125 and %q", args, code, out, stderr, want)
		}
	}
}

func TestValidate(t *testing.T) {
	cmd := program(t, "validate")
	write(t, cmd, "soda.yaml", "mcp_servers:\n  a: {command: x}\n")
	if code, out, _ := run(t, cmd); code != 0 || out != "soda.yaml: ok\n" {
		t.Errorf("exit %d, %q", code, out)
	}
	cmd = program(t, "validate", "-c", "broken.yaml")
	write(t, cmd, "broken.yaml", "policy: odd\nmcp_servers:\n  a: {}\n")
	code, _, stderr := run(t, cmd)
	if code != 1 || !strings.Contains(stderr, "broken.yaml:1: policy: ") || !strings.Contains(stderr, "broken.yaml:3: mcp_servers.a.command: ") {
		t.Errorf("exit %d, %q", code, stderr)
	}
}

func TestBrokenSpec(t *testing.T) {
	cmd := program(t, "run", "--spec", "s.json", "--events", "e.jsonl")
	write(t, cmd, "s.json", "{\n\"allow\": [{\"host\": \"*\", \"port\": 1}],\n\"x\": 1}")
	code, _, stderr := run(t, cmd)
	if code != 125 || !strings.Contains(stderr, "s.json:2: allow[0]: ") || !strings.Contains(stderr, "s.json:3: x: unknown key") {
		t.Errorf("exit %d, stderr %q", code, stderr)
	}
	events, err := os.ReadFile(filepath.Join(cmd.Dir, "e.jsonl"))
	if err != nil || !bytes.Contains(events, []byte(`"event":"error"`)) || !bytes.Contains(events, []byte("s.json:3")) {
		t.Errorf("events = %s, %v", events, err)
	}
}

func TestDryRun(t *testing.T) {
	cmd := program(t, "run", "--spec", "s.json", "--dry-run")
	write(t, cmd, "s.json", `{"network": "isolated", "servers": [{"name": "a", "command": "a"}]}`)
	code, out, _ := run(t, cmd)
	if code != 125 || strings.Count(out, "\n") != 1 || !strings.Contains(out, `"event":"error"`) {
		t.Errorf("exit %d, stdout %q", code, out)
	}
}

// For people: the agent works in the current directory.
func TestRunCommand(t *testing.T) {
	needNamespaces(t)
	cmd := program(t, "run", "-c", "soda.yaml", "--", "sh", "-c", "echo made >file; cat; exit 9")
	write(t, cmd, "soda.yaml", "allow: []\n")
	cmd.Stdin = strings.NewReader("typed")
	code, out, stderr := run(t, cmd)
	if code != 9 || out != "typed" || !strings.Contains(stderr, "mode=connect") {
		t.Errorf("exit %d, stdout %q, stderr %q", code, out, stderr)
	}
	if made, err := os.ReadFile(filepath.Join(cmd.Dir, "file")); err != nil || string(made) != "made\n" {
		t.Errorf("file = %q, %v", made, err)
	}
}

// LIF-017: a person sees what a slow start waits for; the agent's streams stay its own.
func TestProgress(t *testing.T) {
	var out strings.Builder
	log := &personLog{out: &out, shared: true}
	recorder := event.NewRecorder(&progress{log: log})
	recorder.Emit(event.ServerProgress{Server: "jira", Took: 2 * time.Second})
	recorder.Emit(event.ServerStarted{Server: "jira", Took: 2500 * time.Millisecond})
	recorder.Emit(event.Ready{})
	recorder.Emit(event.ServerStarted{Server: "late"})
	fmt.Fprintln(log, "while the agent draws")
	want := "refbridge: server jira is starting, 2 s\nrefbridge: server jira is ready, 2.5 s\n"
	if out.String() != want || recorder.Err() != nil {
		t.Errorf("progress = %q, %v; want %q", out.String(), recorder.Err(), want)
	}
	log.release()
	if want += "while the agent draws\n"; out.String() != want {
		t.Errorf("after the agent: %q, want %q", out.String(), want)
	}
}

// ESC-004: only declared descriptors reach the agent, the control stream does not.
func TestDescriptors(t *testing.T) {
	needNamespaces(t)
	file, err := os.Open("/etc/passwd")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	ours, theirs := socketpair(t)
	cmd := program(t, "run", "--spec", "s.json", "--control", "5")
	cmd.ExtraFiles = []*os.File{file, file, theirs}
	write(t, cmd, "s.json", `{"descriptors": [4], "agent": {"path": "/bin/sh", "args": ["-c", "for fd in /proc/self/fd/*; do test -e $fd && echo ${fd##*/}; done"]}}`)
	code, out, stderr := run(t, cmd)
	if code != 0 || strings.Contains(out, "3\n") || !strings.Contains(out, "4\n") || strings.Contains(out, "5\n") {
		t.Errorf("exit %d, descriptors %q, stderr %q", code, out, stderr)
	}
	_ = theirs.Close()
	events, err := io.ReadAll(ours)
	if err != nil || !bytes.Contains(events, []byte(`"event":"exit"`)) {
		t.Errorf("events on the control stream = %q, %v", events, err)
	}
}

func TestDescriptorsThatAreNotTheCallers(t *testing.T) {
	_, theirs := socketpair(t)
	cmd := program(t, "run", "--spec", "s.json", "--control", "3", "--events", "e.jsonl")
	cmd.ExtraFiles = []*os.File{theirs}
	write(t, cmd, "s.json", `{"descriptors": [3, 4, 5, 6]}`)
	code, _, stderr := run(t, cmd)
	for _, want := range []string{"3 is the control", "4 was not open", "5 was not open", "6 was not open"} {
		if code != 125 || !strings.Contains(stderr, want) {
			t.Errorf("exit %d, stderr %q; want %q", code, stderr, want)
		}
	}
}

func TestControlStream(t *testing.T) {
	ours, theirs := socketpair(t)
	cmd := program(t, "run", "--spec", "s.json", "--control", "3")
	cmd.ExtraFiles = []*os.File{theirs}
	write(t, cmd, "s.json", `{}`)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	_ = theirs.Close()
	fmt.Fprintln(ours, `{"id": 1, "op": "stop", "name": "x"}`)
	fmt.Fprintln(ours, `{"id": 2, "op": "quit"}`)
	var all strings.Builder
	_, _ = io.Copy(&all, ours)
	if err := cmd.Wait(); err != nil {
		t.Error(err)
	}
	for _, want := range []string{`"event":"mode"`, `"event":"ready"`, `"id":1,"ok":false,"reason":"unknown-server"`, `{"id":2,"ok":true}`, `"reason":"quit"`} {
		if !strings.Contains(all.String(), want) {
			t.Errorf("the stream says %s; want %s in it", all.String(), want)
		}
	}
}

// LIF-007
func TestSIGTERM(t *testing.T) {
	needNamespaces(t)
	cmd := program(t, "run", "--spec", "s.json")
	write(t, cmd, "s.json", `{"agent": {"path": "/bin/sh", "args": ["-c", "echo here; exec sleep 1000"]}}`)
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	if _, err := bufio.NewReader(out).ReadString('\n'); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Process.Signal(syscall.SIGTERM)
	_ = cmd.Wait()
	if code := cmd.ProcessState.ExitCode(); code != 128+int(syscall.SIGTERM) {
		t.Errorf("exit %d, want the agent's end by SIGTERM", code)
	}
}

func socketpair(t *testing.T) (ours, theirs *os.File) {
	t.Helper()
	fds, err := syscall.Socketpair(syscall.AF_UNIX, syscall.SOCK_STREAM|syscall.SOCK_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	ours, theirs = os.NewFile(uintptr(fds[0]), "ours"), os.NewFile(uintptr(fds[1]), "theirs")
	t.Cleanup(func() { _ = ours.Close(); _ = theirs.Close() })
	return ours, theirs
}
