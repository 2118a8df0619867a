package sandbox_test

import (
	"bufio"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"bridgecheck/ref/sandbox"
)

func TestExit(t *testing.T) {
	needNamespaces(t)
	plain := filepath.Join(t.TempDir(), "plain")
	if err := os.WriteFile(plain, []byte("#!/bin/sh\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	missing := sandbox.Spec{Path: "/no/such/program"}
	nowhere := sandbox.Spec{Path: "no-such-program", Env: []string{"PATH=/usr/bin:/bin"}}
	searched := sandbox.Spec{Path: "true", Env: []string{"PATH=/nowhere:/usr/bin:/bin"}}
	for _, row := range []struct {
		name string
		spec sandbox.Spec
		want sandbox.Exit
	}{
		{"0", shell("exit 0"), sandbox.Exit{}},
		{"7", shell("exit 7"), sandbox.Exit{Code: 7}},
		{"255", shell("exit 255"), sandbox.Exit{Code: 255}},
		{"searched in PATH", searched, sandbox.Exit{}},
		{"missing", missing, sandbox.Exit{Code: 127}},
		{"not in PATH", nowhere, sandbox.Exit{Code: 127}},
		{"not executable", sandbox.Spec{Path: plain}, sandbox.Exit{Code: 126}},
		{"a directory", sandbox.Spec{Path: "/usr"}, sandbox.Exit{Code: 126}},
		{"TERM to itself", shell("kill -TERM $$"), sandbox.Exit{Signal: syscall.SIGTERM}},
		{"KILL to itself", shell("kill -KILL $$"), sandbox.Exit{Signal: syscall.SIGKILL}},
		{"SEGV to itself", shell("kill -SEGV $$"), sandbox.Exit{Signal: syscall.SIGSEGV}},
		{"child ends first", shell("(exit 3) & wait $!; (sleep 0) & exit 9"), sandbox.Exit{Code: 9}},
	} {
		t.Run(row.name, func(t *testing.T) {
			if out, got := run(t, row.spec); got != row.want {
				t.Errorf("got %+v, want %+v (output %q)", got, row.want, out)
			}
		})
	}
}

// ready starts a shell that says "up" and gives the sandbox once it has.
func ready(t *testing.T, line string) *sandbox.Sandbox {
	t.Helper()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.Close() })
	spec := shell(line)
	spec.Stdout = w
	s := launch(t, spec)
	w.Close()
	if err := s.Start(); err != nil {
		t.Fatal(err)
	}
	if got, err := bufio.NewReader(r).ReadString('\n'); got != "up\n" {
		t.Fatalf("the agent said %q (%v), want up", got, err)
	}
	return s
}

func TestSignal(t *testing.T) {
	needNamespaces(t)
	for _, row := range []struct {
		name string
		line string
		sig  syscall.Signal
		want sandbox.Exit
	}{
		{"TERM", "echo up; exec sleep 1000", syscall.SIGTERM, sandbox.Exit{Signal: syscall.SIGTERM}},
		{"TERM trapped", "trap 'exit 3' TERM; echo up; while :; do sleep 0.01; done", syscall.SIGTERM, sandbox.Exit{Code: 3}},
		{"INT reaches the group", "sh -c 'echo up; exec sleep 1000'; exit 5", syscall.SIGINT, sandbox.Exit{Signal: syscall.SIGINT}},
		{"USR1", "trap 'exit 4' USR1; echo up; while :; do sleep 0.01; done", syscall.SIGUSR1, sandbox.Exit{Code: 4}},
		{"KILL", "trap '' TERM; echo up; exec sleep 1000", syscall.SIGKILL, sandbox.Exit{Signal: syscall.SIGKILL}},
	} {
		t.Run(row.name, func(t *testing.T) {
			s := ready(t, row.line)
			if err := s.Signal(row.sig); err != nil {
				t.Fatal(err)
			}
			if got, err := s.Wait(); err != nil || got != row.want {
				t.Errorf("got %+v, %v, want %+v", got, err, row.want)
			}
			if err := s.Signal(row.sig); err == nil {
				t.Error("a signal to a sandbox that has ended is no error")
			}
		})
	}
}

// A signal that the agent sends to its PID 1 changes nothing.
func TestInitIgnoresTheAgent(t *testing.T) {
	needNamespaces(t)
	for _, landlock := range []bool{true, false} {
		// In a PID namespace of its own, or this would be the host's PID 1.
		spec := shell("test $$ -lt 100 || exit 9; for s in HUP INT TERM USR1 SEGV ABRT KILL STOP; do kill -$s 1; done; sleep 0.05; exit 6")
		spec.Landlock = landlock
		if _, got := run(t, spec); got != (sandbox.Exit{Code: 6}) {
			t.Errorf("landlock %v: got %+v, want code 6", landlock, got)
		}
	}
}

func TestKill(t *testing.T) {
	needNamespaces(t)
	before := launch(t, shell("exit 0")) // not started
	for range 2 {
		if err := before.Kill(); err != nil {
			t.Errorf("kill: %v", err)
		}
	}
	if _, err := before.Wait(); err == nil {
		t.Error("a sandbox killed before its start ended without an error")
	}
	if err := before.Start(); err == nil {
		t.Error("a sandbox that is gone could be started")
	}
	running := ready(t, "trap '' TERM; setsid sleep 1000 & echo up; sleep 1000")
	if err := running.Kill(); err != nil {
		t.Errorf("kill: %v", err)
	}
	if exit, err := running.Wait(); err == nil || exit.Signal != syscall.SIGKILL {
		t.Errorf("got %+v, %v, want an error and signal 9", exit, err)
	}
	if err := running.Kill(); err != nil {
		t.Errorf("kill after the end: %v", err)
	}
}

// An orphan in a session of its own that holds the pipe: it is gone with the
// agent, so the pipe ends, which run waits for.
func TestOrphanIsGone(t *testing.T) {
	needNamespaces(t)
	out, exit := run(t, shell("setsid sleep 1000 & (setsid sh -c 'trap \"\" TERM HUP; sleep 1000' &) ; echo $(ls -d /proc/[0-9]* | wc -l)"))
	if exit != (sandbox.Exit{}) || strings.TrimSpace(out) == "" {
		t.Errorf("got %+v, %q", exit, out)
	}
}

// The agent's streams end when the agent closes them, not when it ends.
func TestStreamsAreTheAgents(t *testing.T) {
	needNamespaces(t)
	w, out := capture(t)
	in, hold, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	spec := shell("echo said; exec >&- 2>&-; read line; exit 8")
	spec.Stdin, spec.Stdout, spec.Stderr = in, w, w
	s := launch(t, spec)
	w.Close()
	in.Close()
	if err := s.Start(); err != nil {
		t.Fatal(err)
	}
	if got := out.String(); got != "said\n" {
		t.Errorf("got %q", got)
	}
	hold.Close()
	if exit, err := s.Wait(); err != nil || exit.Code != 8 {
		t.Errorf("got %+v, %v, want code 8", exit, err)
	}
}
