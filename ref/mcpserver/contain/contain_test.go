package contain_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"

	"bridgecheck/ref/mcpserver/contain"
)

func TestMain(m *testing.M) {
	contain.Main()
	if len(os.Args) > 1 && os.Args[0] == "starter" {
		starter(os.Args[1:])
	}
	if len(os.Args) > 1 && os.Args[1] == "leaderless" {
		leaderless()
	}
	if os.Args[0] == "limited" {
		limited()
	}
	goleak.VerifyTestMain(m)
}

// limited is a program on a host without PID namespaces.
func limited() {
	if err := os.WriteFile("/proc/sys/user/max_pid_namespaces", []byte("0"), 0); err != nil {
		fmt.Println("skip:", err)
		os.Exit(0)
	}
	_, err := contain.Start(contain.Command{Path: "/bin/true"}, contain.Namespace)
	tree, err2 := contain.Start(contain.Command{Path: "/bin/true"}, "")
	if err2 != nil {
		fmt.Println("error:", err2)
		os.Exit(1)
	}
	<-tree.Done()
	fmt.Println(errors.Is(err, contain.ErrUnavailable), tree.Level, tree.Exit())
	os.Exit(0)
}

// starter is a bridge to be killed: it starts a tree and waits.
func starter(args []string) {
	t, err := contain.Start(contain.Command{Path: "/bin/sh", Args: []string{"-c", args[1]}, Env: os.Environ()}, args[0])
	if err != nil {
		fmt.Println("error:", err)
		os.Exit(1)
	}
	_, _ = io.Copy(os.Stdout, t.Stdout)
	<-time.After(time.Hour) // not select {}: without cgo that is a deadlock to the runtime
}

// leaderless is a process whose first thread has ended: in /proc it looks dead.
func leaderless() {
	runtime.LockOSThread()
	if syscall.Gettid() != syscall.Getpid() {
		fmt.Println("skip: main does not run on the first thread")
		os.Exit(0)
	}
	go func() {
		for state := ""; state != "Z"; time.Sleep(time.Millisecond) {
			stat, _ := os.ReadFile("/proc/self/stat")
			state = strings.Fields(string(stat[bytes.LastIndexByte(stat, ')')+1:]))[0]
		}
		fmt.Println("up")
		time.Sleep(time.Hour)
	}()
	_, _, _ = syscall.RawSyscall(syscall.SYS_EXIT, 0, 0, 0)
}

// everyShape forks in each way a server's helpers do; every process holds the
// marker file open, so that anybody left is found.
const everyShape = `exec 9<"$MARKER"
trap '' TERM
sleep 300 &
(sleep 300 & ) &
setsid sleep 300 &
(setsid sh -c 'trap "" TERM; sleep 300 & sleep 300' &) &
sleep 0.1
echo up
cat >/dev/null
sleep 300`

// holders counts the processes of the host that hold path open.
func holders(t *testing.T, path string) []string {
	t.Helper()
	fds, err := filepath.Glob("/proc/[0-9]*/fd/9")
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, fd := range fds {
		if to, err := os.Readlink(fd); err == nil && to == path {
			out = append(out, fd)
		}
	}
	return out
}

func gone(t *testing.T, path string) {
	t.Helper()
	deadline := time.Now().Add(30 * time.Second)
	for left := holders(t, path); len(left) > 0; left = holders(t, path) {
		if time.Now().After(deadline) {
			t.Fatalf("still running: %v", left)
		}
		time.Sleep(5 * time.Millisecond)
	}
}

func marker(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "marker")
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func levels(t *testing.T, f func(t *testing.T, level string)) {
	for _, level := range []string{contain.Namespace, contain.ProcessGroup} {
		t.Run(level, func(t *testing.T) { f(t, level) })
	}
}

func startShell(t *testing.T, level, script string, env ...string) *contain.Tree {
	t.Helper()
	env = append(env, "PATH="+os.Getenv("PATH"))
	tree, err := contain.Start(contain.Command{Path: "/bin/sh", Args: []string{"-c", script}, Env: env}, level)
	if errors.Is(err, contain.ErrUnavailable) {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		tree.Kill()
		<-tree.Done()
		for _, f := range []*os.File{tree.Stdin, tree.Stdout, tree.Stderr} {
			_ = f.Close()
		}
	})
	return tree
}

func readLine(t *testing.T, r io.Reader) string {
	t.Helper()
	var line []byte
	for b := make([]byte, 1); ; line = append(line, b[0]) {
		if _, err := r.Read(b); err != nil || b[0] == '\n' {
			return string(line)
		}
	}
}

func TestKillEndsEveryShapeOfTree(t *testing.T) {
	levels(t, func(t *testing.T, level string) {
		m := marker(t)
		tree := startShell(t, level, everyShape, "MARKER="+m)
		if got := readLine(t, tree.Stdout); got != "up" {
			t.Fatalf("the tree said %q", got)
		}
		if n := len(holders(t, m)); n < 6 {
			t.Fatalf("control: %d processes hold the marker, want at least 6", n)
		}
		_ = tree.Stdin.Close()
		if err := tree.Term(); err != nil {
			t.Fatal(err)
		}
		tree.Kill()
		<-tree.Done()
		gone(t, m)
		if got := tree.Exit().Signal; got != syscall.SIGKILL {
			t.Errorf("exit is %s, want signal SIGKILL", tree.Exit())
		}
	})
}

// A chain that forks before it dies is missed by a look at /proc, the test's own
// too: that its output ends shows that nobody of it is left.
func TestChainOfForksIsEnded(t *testing.T) {
	levels(t, func(t *testing.T, level string) {
		chain := filepath.Join(t.TempDir(), "chain")
		script := `[ "$1" -gt 200 ] && exec sleep 300; /bin/sh "$0" $(($1 + 1)) & exit 0`
		if err := os.WriteFile(chain, []byte(script), 0o600); err != nil {
			t.Fatal(err)
		}
		tree := startShell(t, level, `/bin/sh "$CHAIN" 0; echo up; exec sleep 300`, "CHAIN="+chain)
		if got := readLine(t, tree.Stdout); got != "up" {
			t.Fatalf("the tree said %q", got)
		}
		tree.Kill()
		<-tree.Done()
		outputEnds(t, tree)
	})
}

func TestLeaderlessProcessIsEnded(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	levels(t, func(t *testing.T, level string) {
		tree := startShell(t, level, `setsid "$SELF" leaderless & exec sleep 300`, "SELF="+self)
		switch got := readLine(t, tree.Stdout); {
		case strings.HasPrefix(got, "skip"):
			t.Skip(got)
		case got != "up":
			t.Fatalf("the tree said %q", got)
		}
		tree.Kill()
		<-tree.Done()
		outputEnds(t, tree)
	})
}

// outputEnds shows that nobody of the tree is left.
func outputEnds(t *testing.T, tree *contain.Tree) {
	t.Helper()
	if err := tree.Stdout.SetReadDeadline(time.Now().Add(30 * time.Second)); err != nil {
		t.Fatal(err)
	}
	if _, err := io.Copy(io.Discard, tree.Stdout); err != nil {
		t.Error("somebody holds the output still:", err)
	}
}

func TestEndOfCommandEndsItsDescendants(t *testing.T) {
	levels(t, func(t *testing.T, level string) {
		m := marker(t)
		tree := startShell(t, level, `exec 9<"$MARKER"; setsid sleep 300 & echo up; read x; exit 7`, "MARKER="+m)
		readLine(t, tree.Stdout)
		if len(holders(t, m)) == 0 {
			t.Fatal("control: nobody holds the marker")
		}
		_ = tree.Stdin.Close()
		<-tree.Done()
		gone(t, m)
		if got := tree.Exit(); got.Code != 7 || got.Signal != 0 {
			t.Errorf("exit is %s, want code 7", got)
		}
	})
}

func TestDeathOfTheStarterEndsTheTree(t *testing.T) {
	levels(t, func(t *testing.T, level string) {
		m := marker(t)
		c := exec.Command("/proc/self/exe")
		c.Args = []string{"starter", level, everyShape}
		c.Env = append(os.Environ(), "MARKER="+m)
		out, err := c.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		line := readLine(t, out)
		before := len(holders(t, m))
		_ = c.Process.Kill()
		_ = c.Wait()
		if strings.Contains(line, contain.ErrUnavailable.Error()) {
			t.Skip(line)
		}
		if line != "up" || before < 6 {
			t.Fatalf("control: said %q with %d processes", line, before)
		}
		gone(t, m)
	})
}

func TestTermReachesTheServerBehindAWrapper(t *testing.T) {
	levels(t, func(t *testing.T, level string) {
		tree := startShell(t, level, `sh -c 'trap "echo got TERM; exit 0" TERM; echo up; while :; do sleep 0.01; done'; exit 3`)
		readLine(t, tree.Stdout)
		if err := tree.Term(); err != nil {
			t.Fatal(err)
		}
		if got := readLine(t, tree.Stdout); got != "got TERM" {
			t.Errorf("the wrapped server said %q", got)
		}
		<-tree.Done()
	})
}

func TestWhatTheCommandSees(t *testing.T) {
	levels(t, func(t *testing.T, level string) {
		tree := startShell(t, level, `echo "$(readlink /proc/self/ns/pid) $(id -u) $(ls /proc/$$/exe) $V"; ls /proc/self/fd | tr '\n' ' '; echo; grep CapEff /proc/self/status`, "V=a\xffb c")
		fields := strings.Fields(readLine(t, tree.Stdout))
		own, err := os.Readlink("/proc/self/ns/pid")
		if err != nil {
			t.Fatal(err)
		}
		if in := fields[0] != own; in != (level == contain.Namespace) {
			t.Errorf("PID namespace is %s, ours %s", fields[0], own)
		}
		if fields[1] != strconv.Itoa(os.Getuid()) {
			t.Errorf("uid is %s", fields[1])
		}
		if got := strings.Join(fields[3:], " "); got != "a\xffb c" {
			t.Errorf("environment value is %q", got)
		}
		if got := readLine(t, tree.Stdout); got != "0 1 2 3 " { // 3 is ls's own
			t.Errorf("descriptors are %s", got)
		}
		if caps := readLine(t, tree.Stdout); os.Geteuid() != 0 && !strings.HasSuffix(caps, "0000000000000000") {
			t.Errorf("capabilities: %s", caps)
		}
	})
}

func TestProgramThatCannotBeExecuted(t *testing.T) {
	levels(t, func(t *testing.T, level string) {
		_, err := contain.Start(contain.Command{Path: "/nonexistent/server"}, level)
		if errors.Is(err, contain.ErrUnavailable) {
			t.Skip(err)
		}
		if !errors.Is(err, os.ErrNotExist) || !strings.Contains(err.Error(), "/nonexistent/server") {
			t.Errorf("error is %v", err)
		}
	})
	if _, err := contain.Start(contain.Command{Path: "/bin/true"}, "cgroup"); err == nil {
		t.Error("an unknown level was accepted")
	}
}

func TestHostWithoutNamespaces(t *testing.T) {
	c := exec.Command("/proc/self/exe")
	c.Args = []string{"limited"}
	c.SysProcAttr = &syscall.SysProcAttr{
		Cloneflags:  syscall.CLONE_NEWUSER,
		UidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getuid(), Size: 1}},
		GidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getgid(), Size: 1}},
	}
	out, err := c.CombinedOutput()
	if err != nil && len(out) == 0 || strings.HasPrefix(string(out), "skip") {
		t.Skipf("no user namespace to play that host in: %v %s", err, out)
	}
	if got := strings.TrimSpace(string(out)); got != "true process-group code 0" {
		t.Errorf("got %s, %v", got, err)
	}
}
