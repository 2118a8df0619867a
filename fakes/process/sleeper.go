// Package process starts and ends processes the way that tests need them: ones
// that sleep for ever in every kind of relation to their parent, and deaths of
// a chosen signal. The sleepers are the running binary itself, called anew, so
// that nothing else has to exist in a sandbox.
package process

import (
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"time"
)

// The first arguments by which a binary that calls [Helper] plays a part.
const (
	// sleepCommand sleeps for ever; what follows it is a mark to be found by.
	sleepCommand = "sleep-forever"
	// forkCommand starts a sleeper, prints its pid and ends: the middle of a
	// double fork.
	forkCommand = "fork-sleeper"
)

// The kinds of sleeper, by their relation to who starts them.
const (
	Child      = "child"       // plain child with stdio of its own
	DoubleFork = "double-fork" // orphan, adopted by the reaper
	SetSID     = "setsid"      // leader of a session of its own
	HoldPipe   = "hold-pipe"   // child that keeps the starter's stdio open
)

// Kinds are all of them.
var Kinds = []string{Child, DoubleFork, SetSID, HoldPipe}

// Helper plays the part that args (os.Args) ask for and tells whether there was
// one; a sleeper does not return. Call it first in main.
func Helper(args []string) bool {
	switch {
	case len(args) > 1 && args[1] == sleepCommand:
		for {
			time.Sleep(time.Hour)
		}
	case len(args) > 1 && args[1] == forkCommand:
		pid, err := start(sleeper(Child, args[2:]))
		if err != nil {
			fmt.Fprintln(os.Stderr, "start sleeper:", err)
			os.Exit(1)
		}
		fmt.Println(pid)
		return true
	}
	return false
}

// Sleep starts one process of the kind that sleeps for ever, with the marks in
// its arguments, and returns its pid. It is reaped when it dies before us.
func Sleep(kind string, marks ...string) (pid int, err error) {
	switch kind {
	case Child, SetSID, HoldPipe:
		return start(sleeper(kind, marks))
	case DoubleFork:
		middle := exec.Command(own(), append([]string{forkCommand}, marks...)...)
		middle.Stdin, middle.Stderr = strings.NewReader(""), os.Stderr
		out, err := middle.Output()
		if err != nil {
			return 0, fmt.Errorf("start the middle of a double fork: %w", err)
		}
		_, err = fmt.Sscan(string(out), &pid)
		return pid, err
	}
	return 0, fmt.Errorf("unknown kind of process %q: one of child, double-fork, setsid, hold-pipe", kind)
}

// own is the path of the running binary; /proc may be missing in a sandbox.
func own() string {
	if path, err := os.Executable(); err == nil {
		return path
	}
	return os.Args[0]
}

// sleeper is the command of one process that sleeps for ever.
func sleeper(kind string, marks []string) *exec.Cmd {
	cmd := exec.Command(own(), append([]string{sleepCommand}, marks...)...)
	switch kind {
	case SetSID:
		cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	case HoldPipe:
		cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	}
	return cmd
}

// start starts the command with ends of a pipe of its own where it has no
// stdio: /dev/null may be missing in a sandbox.
func start(cmd *exec.Cmd) (int, error) {
	if cmd.Stdin == nil {
		r, w, err := os.Pipe()
		if err != nil {
			return 0, err
		}
		defer func() { _, _ = r.Close(), w.Close() }()
		cmd.Stdin, cmd.Stdout, cmd.Stderr = r, w, w
	}
	if err := cmd.Start(); err != nil {
		return 0, err
	}
	go func() { _ = cmd.Wait() }()
	awaitArguments(cmd.Process.Pid)
	return cmd.Process.Pid, nil
}

// awaitArguments waits until the process can be found by its marks: execve(2) has
// succeeded before the kernel shows the arguments. Without /proc nobody looks.
func awaitArguments(pid int) {
	for {
		args, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
		if err != nil || len(args) > 0 {
			return
		}
		time.Sleep(100 * time.Microsecond)
	}
}
