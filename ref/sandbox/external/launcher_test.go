package external

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"bridgecheck/ref/sandbox"
)

// needNamespaces skips where this host refuses them.
func needNamespaces(t testing.TB) {
	t.Helper()
	box, err := sandbox.Launch(context.Background(), sandbox.Spec{Path: "/bin/true", Landlock: true})
	if f, ok := errors.AsType[*sandbox.Failure](err); ok {
		t.Skip("this host makes no sandbox: ", f)
	} else if err != nil {
		t.Fatal(err)
	}
	_ = box.Kill()
	_, _ = box.Wait()
}

func launcher(faults ...string) *Launcher { return &Launcher{Command: Self(faults...)} }

// spec has this program as the agent.
func spec(t testing.TB, args ...string) Spec {
	t.Helper()
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	s := Spec{Dir: t.TempDir()}
	s.Path, s.Args, s.Env = program, append([]string{"fake-agent"}, args...), []string{"GORACE=atexit_sleep_ms=0"}
	s.Level, s.Ports, s.Seccomp, s.Landlock = sandbox.Isolated, []uint16{ProxyPort}, sandbox.Baseline, true
	return s
}

// run launches to the end, with a proxy that answers each line.
func run(t testing.TB, l *Launcher, s Spec) (sandbox.Exit, string, error) {
	t.Helper()
	out, err := newCapture()
	if err != nil {
		t.Fatal(err)
	}
	s.Stdout = out.write
	box, err := l.Launch(context.Background(), s)
	if err != nil {
		out.text()
		return sandbox.Exit{}, "", err
	}
	for _, door := range box.Listeners() {
		go func() {
			for {
				conn, err := door.Accept()
				if err != nil {
					return
				}
				line, _ := bufio.NewReader(conn).ReadString('\n')
				fmt.Fprintln(conn, "the bridge heard "+strings.TrimSpace(line))
				conn.Close()
			}
		}()
	}
	if err := box.Start(); err != nil {
		t.Fatal(err)
	}
	exit, err := box.Wait()
	text := out.text()
	if left, _ := os.ReadDir(s.Dir); len(left) > 0 {
		t.Errorf("left in the directory: %v", left)
	}
	return exit, text, err
}

func TestLaunch(t *testing.T) {
	needNamespaces(t)
	for _, row := range []struct {
		args []string
		exit sandbox.Exit
		out  string
	}{
		{[]string{"exit", "0"}, sandbox.Exit{}, ""},
		{[]string{"exit", "125"}, sandbox.Exit{Code: 125}, ""},
		{[]string{"raise", "9"}, sandbox.Exit{Signal: syscall.SIGKILL}, ""},
		{[]string{"raise", "15"}, sandbox.Exit{Signal: syscall.SIGTERM}, ""},
		{[]string{"say", "hello"}, sandbox.Exit{}, "the bridge heard hello\n"},
		{[]string{"env"}, sandbox.Exit{}, `["GORACE=atexit_sleep_ms=0"]` + "\n"},
	} {
		t.Run(strings.Join(row.args, "-"), func(t *testing.T) {
			exit, out, err := run(t, launcher(), spec(t, row.args...))
			if exit != row.exit || out != row.out || err != nil {
				t.Errorf("%+v, %q, %v; want %+v, %q", exit, out, err, row.exit, row.out)
			}
		})
	}
}

// The witness sees what the agent would, and needs more to run.
func TestStage(t *testing.T) {
	dir := t.TempDir()
	for _, row := range []struct {
		rw     []string
		hidden bool
	}{{nil, true}, {[]string{dir + "x"}, true}, {[]string{dir}, false}, {[]string{"/"}, false}} {
		launch := Launch{Path: "/bin/agent", RW: row.rw, Memory: 1, PIDs: 2, Files: 3, OwnNetwork: true}
		st, err := launcher().setStage(Spec{Dir: dir}, &launch)
		if err != nil {
			t.Fatal(err)
		}
		if launch.Memory != 0 || launch.PIDs != 0 || launch.Files != 0 || launch.Path == "/bin/agent" || len(launch.RW) != len(row.rw)+1 {
			t.Errorf("%+v", launch)
		}
		if (st.Hidden != "") != row.hidden || st.Declared == "" || st.Proxy != "" || st.Host == "" {
			t.Errorf("with %v writable: %+v", row.rw, st.scene)
		}
		st.clear()
		if left, _ := os.ReadDir(dir); len(left) > 0 {
			t.Errorf("left: %v", left)
		}
	}
}

// What was asked for and is not in force stops the start, whatever a helper says.
func TestRehearsalRefuses(t *testing.T) {
	needNamespaces(t)
	for _, row := range []struct {
		fault string
		is    func(error) bool
		says  string
	}{
		{"landlock", isFailure, "layer landlock"},
		{"seccomp", isFailure, "layer seccomp"},
		{"network", isFailure, "layer netns"},
		{"pids", isFailure, "layer netns"},
		{"proxy", isFailure, "nothing leads from 127.0.0.1:18080 to the proxy: connection refused"},
		{"relay", isFailure, "somebody else"},
		{"fail", isFailure, "no space left on device"},
		{"refuse", isRefusal, "HOME cannot be set"},
		{"break", isHelper, "out of order"},
		{"die", isHelper, "exit status 125"},
		{"about", isHelper, "fake: no such library"},
		{"no-seccomp", isRefusal, "its filter is its own"},
		{"no-own_network", isRefusal, "share the network"},
	} {
		t.Run(row.fault, func(t *testing.T) {
			s := spec(t, "exit", "0")
			_, _, err := run(t, launcher(row.fault), s)
			if err == nil || !row.is(err) || !strings.Contains(err.Error(), row.says) {
				t.Errorf("error %v (%[1]T), want %q", err, row.says)
			}
			if left, _ := os.ReadDir(s.Dir); len(left) > 0 {
				t.Errorf("left in the directory: %v", left)
			}
		})
	}
	ctx, cancel := context.WithTimeout(t.Context(), 500*time.Millisecond)
	defer cancel()
	if _, err := launcher("hang").Launch(ctx, spec(t, "exit", "0")); err == nil || !isFailure(err) {
		t.Errorf("one that hangs: %v", err)
	}
}
