package lab

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"syscall"

	"golang.org/x/sys/unix"
)

// setupFailed is the exit code that says the lab itself could not be made; no
// command of a lab uses it.
const setupFailed = 96

// Main becomes the lab's first process when this program was started as one,
// and does not return then. It is called first thing in main.
func Main() {
	if os.Args[0] != initName {
		return
	}
	code, err := run()
	if err != nil {
		fmt.Fprintf(os.Stderr, "lab: %v\n", err)
		code = setupFailed
	}
	os.Exit(code)
}

func run() (int, error) {
	runtime.LockOSThread()
	// The caller's may close what is made here to the cell's user.
	unix.Umask(0o022)
	var o Order
	f := os.NewFile(3, "order")
	if err := json.NewDecoder(f).Decode(&o); err != nil {
		return 0, fmt.Errorf("read order: %w", err)
	}
	f.Close()
	// What the caller of bridgecheck left open is not the lab's, and must not be
	// found in an agent.
	if err := unix.CloseRange(3, ^uint(0)>>1, unix.CLOSE_RANGE_CLOEXEC); err != nil {
		return 0, fmt.Errorf("close inherited descriptors: %w", err)
	}
	if err := PrepareNetwork(); err != nil {
		return 0, err
	}
	if err := prepareFiles(o); err != nil {
		return 0, err
	}
	return supervise(o)
}

// supervise runs the command under the cell's user and reaps every orphan of
// the lab meanwhile: a zombie would look like something a subject left behind.
func supervise(o Order) (int, error) {
	cmd := exec.Command(o.Args[0], o.Args[1:]...)
	cmd.Env, cmd.Dir = o.Env, Root+"/work"
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if os.Geteuid() != o.UID {
		cmd.SysProcAttr.Credential = &syscall.Credential{Uid: uint32(o.UID), Gid: uint32(o.GID)}
	}
	// A single mapped id has ambient capabilities from Start; the checks must not.
	if err := unix.Prctl(unix.PR_CAP_AMBIENT, unix.PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0); err != nil {
		return 0, fmt.Errorf("clear ambient capabilities: %w", err)
	}
	if err := cmd.Start(); err != nil {
		return 0, fmt.Errorf("start %s: %w", o.Args[0], err)
	}
	for {
		var status unix.WaitStatus
		pid, err := unix.Wait4(-1, &status, 0, nil)
		switch {
		case err == unix.EINTR:
		case err != nil:
			return 0, fmt.Errorf("wait: %w", err)
		case pid == cmd.Process.Pid && status.Exited():
			return status.ExitStatus(), nil
		case pid == cmd.Process.Pid:
			return 128 + int(status.Signal()), nil
		}
	}
}
