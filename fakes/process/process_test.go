package process_test

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"

	"bridgecheck/fakes/process"
)

// dieOf makes the test binary die of the signal it holds.
const dieOf = "BRIDGECHECK_TEST_DIE_OF"

func TestMain(m *testing.M) {
	if process.Helper(os.Args) {
		return
	}
	if name := os.Getenv(dieOf); name != "" {
		signal, err := process.Signal(name)
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(2)
		}
		process.Die(signal)
	}
	os.Exit(m.Run())
}

func TestSleep(t *testing.T) {
	t.Setenv("GORACE", "atexit_sleep_ms=0") // or the middle of the double fork takes a second
	for _, kind := range process.Kinds {
		pid, err := process.Sleep(kind, "mark-of-test")
		if err != nil {
			t.Fatal(err)
		}
		args, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
		if err != nil || !strings.Contains(string(args), "mark-of-test") {
			t.Errorf("%s: %q, %v", kind, args, err)
		}
		session, err := getsid(pid)
		if own, _ := getsid(0); err != nil || (session != own) != (kind == process.SetSID) {
			t.Errorf("%s: session %d, own %d, %v", kind, session, own, err)
		}
		parent := parentOf(t, pid)
		if (parent == os.Getpid()) == (kind == process.DoubleFork) {
			t.Errorf("%s: parent %d", kind, parent)
		}
		if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
			t.Errorf("%s: %v", kind, err)
		}
	}
	if _, err := process.Sleep("nap"); err == nil {
		t.Error("an unknown kind was started")
	}
}

func getsid(pid int) (int, error) {
	session, _, errno := syscall.RawSyscall(syscall.SYS_GETSID, uintptr(pid), 0, 0)
	if errno != 0 {
		return 0, errno
	}
	return int(session), nil
}

// parentOf reads the fourth field of /proc/PID/stat, after the name in brackets.
func parentOf(t *testing.T, pid int) int {
	t.Helper()
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		t.Fatal(err)
	}
	var state string
	var parent int
	if _, err := fmt.Sscan(string(stat[bytes.LastIndexByte(stat, ')')+1:]), &state, &parent); err != nil {
		t.Fatal(err)
	}
	return parent
}

func TestDie(t *testing.T) {
	for _, name := range []string{"SIGKILL", "SIGTERM", "SIGSEGV", "SIGQUIT", "SIGABRT", "10"} {
		cmd := exec.Command("/proc/self/exe")
		cmd.Env = append(os.Environ(), dieOf+"="+name)
		want, err := process.Signal(name)
		if err != nil {
			t.Fatal(err)
		}
		err = cmd.Run()
		exit, found := errors.AsType[*exec.ExitError](err)
		if !found || exit.Sys().(syscall.WaitStatus).Signal() != want {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestSignal(t *testing.T) {
	for _, text := range []string{"", "SIGNOPE", "0", "-1", "65", "TERM"} {
		if got, err := process.Signal(text); err == nil {
			t.Errorf("%q is %v", text, got)
		}
	}
}
