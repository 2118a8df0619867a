package external

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"bridgecheck/ref/sandbox"
)

// script is a helper that a shell plays.
func script(ctx context.Context, text string) (*helper, error) {
	return startHelper(ctx, exec.Command("/bin/sh", "-c", text), "", nil, nil, nil)
}

const (
	about   = `echo '{"about":{"name":"script","fields":[]}}' >&3; `
	ordered = about + `read order <&3; `
	began   = ordered + `echo '{"started":{"pid":1}}' >&3; `
)

// TestProtocol has a helper do each thing that one can do.
func TestProtocol(t *testing.T) {
	soon(t)
	for _, row := range []struct {
		name, text string
		exit       sandbox.Exit
		err        string // "" is none
		is         func(error) bool
	}{
		{"exits", began + `echo '{"exited":{"code":7}}' >&3`, sandbox.Exit{Code: 7}, "", nil},
		{"is killed", began + `echo '{"exited":{"code":0,"signal":9}}' >&3`, sandbox.Exit{Signal: syscall.SIGKILL}, "", nil},
		{"exits, and the helper fails then", began + `echo '{"exited":{"code":0}}' >&3; exit 3`, sandbox.Exit{}, "", nil},
		{"exits, and the helper stays", began + `echo '{"exited":{"code":0}}' >&3; exec sleep 1000`, sandbox.Exit{}, "", nil},
		{"refuses", ordered + `echo '{"refused":{"field":"Env","reason":"no HOME"}}' >&3`, sandbox.Exit{}, "no HOME", isRefusal},
		{"fails", ordered + `echo '{"failed":{"stage":"clone","errno":"EPERM","reason":"unshare"}}' >&3`, sandbox.Exit{}, "operation not permitted", isFailure},
		{"fails later", began + `echo '{"failed":{"stage":"limits","reason":"gone"}}' >&3`, sandbox.Exit{}, "gone", isFailure},
		{"is broken", ordered + `echo '{"failed":{"stage":"backend","reason":"out of order"}}' >&3`, sandbox.Exit{}, "out of order", isHelper},
		{"dies before", ordered + `kill -KILL $$`, sandbox.Exit{}, "ended without telling why (signal: killed)", isHelper},
		{"dies after", began + `kill -KILL $$`, sandbox.Exit{}, "ended without telling why (signal: killed)", isHelper},
		{"leaves", began + `exit 125`, sandbox.Exit{}, "ended without telling why (exit status 125)", isHelper},
		{"hangs up", began + `exec 3>&-; exec sleep 1000`, sandbox.Exit{}, "ended without telling why (signal: killed)", isHelper},
		{"never read", about + `exit 4`, sandbox.Exit{}, "", isHelper},
		{"exits before it began", ordered + `echo '{"exited":{"code":0}}' >&3`, sandbox.Exit{}, "makes no sense", isHelper},
		{"begins twice", began + `echo '{"started":{"pid":1}}' >&3`, sandbox.Exit{}, "makes no sense", isHelper},
		{"refuses late", began + `echo '{"refused":{"field":"Env","reason":"no"}}' >&3`, sandbox.Exit{}, "makes no sense", isHelper},
		{"introduces itself again", ordered + about, sandbox.Exit{}, "makes no sense", isHelper},
		{"babbles", began + `echo hello >&3`, sandbox.Exit{}, `line "hello"`, isHelper},
		{"does not stop", began + `head -c 200000 /dev/zero >&3`, sandbox.Exit{}, "longer than 65536 bytes", isHelper},
	} {
		t.Run(row.name, func(t *testing.T) {
			h, err := script(t.Context(), row.text)
			if err != nil {
				t.Fatal(err)
			}
			box := &Sandbox{helper: h, done: make(chan struct{})}
			_ = box.Start() // one that has ended cannot be told
			exit, err := box.Wait()
			if exit != row.exit || (row.is == nil) != (err == nil) {
				t.Fatalf("%+v, %v; want %+v, %q", exit, err, row.exit, row.err)
			}
			if row.is != nil && (!row.is(err) || !strings.Contains(err.Error(), row.err)) {
				t.Errorf("error %v (%[1]T), want %q", err, row.err)
			}
			if err := box.Kill(); err != nil {
				t.Errorf("kill what has ended: %v", err)
			}
		})
	}
}

func isRefusal(err error) bool { _, ok := errors.AsType[*sandbox.Refusal](err); return ok }
func isFailure(err error) bool { _, ok := errors.AsType[*sandbox.Failure](err); return ok }
func isHelper(err error) bool  { _, ok := errors.AsType[*HelperError](err); return ok }

// soon lets a helper that does not end be ended soon.
func soon(t *testing.T) {
	was := patience
	patience = 200 * time.Millisecond
	t.Cleanup(func() { patience = was })
}

func TestIntroduction(t *testing.T) {
	soon(t)
	for text, want := range map[string]string{
		"exit 0":                                   "ended without telling why",
		"echo no library >&2; exit 1":              "ended without telling why",
		"echo hello >&3; read x <&3":               `line "hello"`,
		`echo '{"exited":{"code":0}}' >&3; read x`: "does not begin with what it is",
		"exec sleep 1000":                          "did not answer",
	} {
		ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
		defer cancel()
		if !strings.HasPrefix(text, "exec") {
			ctx = t.Context()
		}
		_, err := script(ctx, text)
		if err == nil || !isHelper(err) || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
	l := &Launcher{Command: func() *exec.Cmd { return exec.Command("/nowhere/helper") }}
	if _, err := l.About(t.Context()); err == nil || !isHelper(err) {
		t.Errorf("a helper that is not there: %v", err)
	}
	l.Command = func() *exec.Cmd { return exec.Command("/bin/sh", "-c", "echo fake: no such library >&2; exit 127") }
	if _, err := l.About(t.Context()); err == nil || !strings.Contains(err.Error(), "fake: no such library") {
		t.Errorf("one that says why: %v", err)
	}
}

func TestAbout(t *testing.T) {
	for hosts, want := range map[bool]Field{false: FieldProxySocket, true: FieldAllowedHosts} {
		l := launcher()
		l.Hosts = hosts
		a, err := l.About(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if a.Has(FieldProxySocket) == a.Has(FieldAllowedHosts) || !a.Has(want) || !a.Double || a.String() != "fake (fake 1)" {
			t.Errorf("hosts %v: %+v", hosts, a)
		}
	}
}

// waiting is an agent that waits, and all processes that belong to it.
func waiting(t *testing.T) (*Sandbox, []int) {
	t.Helper()
	needNamespaces(t)
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	s := spec(t, "wait")
	s.Stdout = w
	box, err := launcher().Launch(t.Context(), s)
	_ = w.Close()
	if err != nil {
		t.Fatal(err)
	}
	if err := box.Start(); err != nil {
		t.Fatal(err)
	}
	if line, err := bufio.NewReader(r).ReadString('\n'); line != "waiting\n" {
		t.Fatalf("the agent said %q, %v", line, err)
	}
	all := descendants(box.helper.cmd.Process.Pid)
	if len(all) < 2 {
		t.Fatalf("there are only %v", all)
	}
	return box, all
}

// descendants are the processes below one, at least itself.
func descendants(pid int) []int {
	all := []int{pid}
	lists, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", pid))
	for _, list := range lists {
		text, _ := os.ReadFile(list)
		for field := range strings.FieldsSeq(string(text)) {
			var child int
			fmt.Sscan(field, &child)
			all = append(all, descendants(child)...)
		}
	}
	return all
}

// awaitGone waits for the end of all; a zombie has ended.
func awaitGone(t *testing.T, all []int) {
	t.Helper()
	for end := time.Now().Add(20 * time.Second); ; time.Sleep(5 * time.Millisecond) {
		var left []string
		for _, pid := range all {
			text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
			if err == nil && !strings.Contains(string(text), ") Z ") {
				left = append(left, string(text))
			}
		}
		if left == nil {
			return
		}
		if time.Now().After(end) {
			t.Fatalf("left: %v", left)
		}
	}
}

func TestEnds(t *testing.T) {
	for name, row := range map[string]struct {
		end  func(*Sandbox)
		exit sandbox.Exit
		err  bool
	}{
		"told to end":      {func(s *Sandbox) { _ = s.Signal(syscall.SIGTERM) }, sandbox.Exit{Signal: syscall.SIGTERM}, false},
		"killed":           {func(s *Sandbox) { _ = s.Kill(); _ = s.Kill() }, sandbox.Exit{Signal: syscall.SIGKILL}, false},
		"helper is killed": {func(s *Sandbox) { _ = s.helper.cmd.Process.Kill() }, sandbox.Exit{}, true},
	} {
		t.Run(name, func(t *testing.T) {
			box, all := waiting(t)
			row.end(box)
			exit, err := box.Wait()
			if exit != row.exit || (err != nil) != row.err {
				t.Errorf("%+v, %v; want %+v", exit, err, row.exit)
			}
			awaitGone(t, all)
			if err := box.Signal(syscall.SIGTERM); err == nil {
				t.Error("what has ended can be told")
			}
		})
	}
}

// The end of the stream is what a bridge leaves that was killed.
func TestEndOfStream(t *testing.T) {
	box, all := waiting(t)
	box.helper.mu.Lock()
	conn, err := box.helper.stream.SyscallConn()
	box.helper.mu.Unlock()
	if err == nil {
		err = conn.Control(func(fd uintptr) { _ = syscall.Shutdown(int(fd), syscall.SHUT_RDWR) })
	}
	if err != nil {
		t.Fatal(err)
	}
	if _, err := box.Wait(); err == nil {
		t.Error("no error")
	}
	awaitGone(t, all)
}

// A sandbox that is not started can be ended, once.
func TestNotStarted(t *testing.T) {
	needNamespaces(t)
	box, err := launcher().Launch(t.Context(), spec(t, "exit", "0"))
	if err != nil {
		t.Fatal(err)
	}
	door := box.Listeners()[0]
	if err := box.Kill(); err != nil {
		t.Error(err)
	}
	if exit, err := box.Wait(); err == nil || exit.Signal != syscall.SIGKILL {
		t.Errorf("%+v, %v", exit, err)
	}
	if box.Start() == nil {
		t.Error("it can be started after its end")
	}
	if _, err := door.Accept(); err == nil {
		t.Error("its socket is still open")
	}
}

func TestUnrunnable(t *testing.T) {
	for path, want := range map[string]int{"/nowhere": 127, "sh": 127, "/etc/passwd": 126, "/etc": 126, "/etc/passwd/x": 126, "/bin/sh": 0} {
		if got := unrunnable(path); got != want {
			t.Errorf("%s: %d, want %d", path, got, want)
		}
	}
}
