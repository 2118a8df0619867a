package probe

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"bridgecheck/fakes/attempt"
)

// SleepCommand is the first argument that turns the binary into a process that
// sleeps for ever; what follows it is a mark to be found by.
const SleepCommand = "sleep-forever"

// ForkCommand makes the binary start the rest of its arguments as a sleeper,
// print its pid and end: the middle of a double fork.
const ForkCommand = "fork-sleeper"

// maxSpawn bounds Count.
const maxSpawn = 10_000

// Helper runs the process that args ask for and tells whether there was one.
func Helper(args []string) bool {
	switch {
	case len(args) > 1 && args[1] == SleepCommand:
		for {
			time.Sleep(time.Hour)
		}
	case len(args) > 1 && args[1] == ForkCommand:
		pid, err := start(sleeper("child", args[2:]))
		if err != nil {
			fmt.Fprintln(os.Stderr, "start sleeper:", err)
			os.Exit(1)
		}
		fmt.Println(pid)
		return true
	}
	return false
}

// own is the path of the running binary; /proc may be missing in a sandbox.
func own() string {
	if path, err := os.Executable(); err == nil {
		return path
	}
	return os.Args[0]
}

// sleeper is the command of one process that sleeps for ever.
func sleeper(kind string, mark []string) *exec.Cmd {
	cmd := exec.Command(own(), append([]string{SleepCommand}, mark...)...)
	switch kind {
	case "setsid":
		cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	case "hold-pipe":
		cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	}
	return cmd
}

// start starts the command with ends of a pipe of its own where it has no
// stdio: /dev/null may be missing in a sandbox. A dead child is reaped.
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
	return cmd.Process.Pid, nil
}

// spawn starts Count processes of the kind Args[0] that sleep for ever; Args[1],
// when given, is put into their arguments as a mark. Value is the last pid,
// Names are all of them. hold-pipe keeps the probe's own stdio.
func (p *Probe) spawn(_ context.Context, a attempt.Attempt) attempt.Observation {
	if len(a.Args) == 0 || a.Count > maxSpawn {
		return refused("spawn needs a kind, and a count of at most %d", maxSpawn)
	}
	var o attempt.Observation
	for range max(a.Count, 1) {
		pid, err := spawnOne(a.Args[0], a.Args[1:])
		if err != nil {
			note(&o, err)
			return o
		}
		o.Value = int64(pid)
		o.Names = append(o.Names, fmt.Sprint(pid))
	}
	return o
}

func spawnOne(kind string, mark []string) (pid int, err error) {
	switch kind {
	case "child", "setsid", "hold-pipe":
		return start(sleeper(kind, mark))
	case "double-fork":
		middle := exec.Command(own(), append([]string{ForkCommand}, mark...)...)
		middle.Stdin, middle.Stderr = strings.NewReader(""), os.Stderr
		out, err := middle.Output()
		if err != nil {
			return 0, err
		}
		_, err = fmt.Sscan(string(out), &pid)
		return pid, err
	}
	return 0, &noAttempt{"unknown kind of process " + kind}
}

// run starts a program and waits for it: Text is its output, both streams,
// Value its exit code, or 128+N with Errno "other" when a signal ended it.
func (p *Probe) run(ctx context.Context, a attempt.Attempt) attempt.Observation {
	cmd := exec.CommandContext(ctx, a.Path, a.Args...)
	cmd.Stdin = strings.NewReader("")
	cmd.WaitDelay = time.Second
	out, err := cmd.CombinedOutput()
	o := attempt.Observation{Text: string(out)}
	var ended *exec.ExitError
	switch {
	case ctx.Err() != nil:
		note(&o, ctx.Err())
	case errors.As(err, &ended) && ended.Exited():
		o.Value = int64(ended.ExitCode())
	case errors.As(err, &ended):
		o.Value = 128 + int64(ended.Sys().(syscall.WaitStatus).Signal())
		note(&o, err)
	default:
		note(&o, err)
	}
	return o
}

func (p *Probe) signal(_ context.Context, a attempt.Attempt) attempt.Observation {
	if a.PID == 0 {
		return refused("signal needs a pid")
	}
	return failed(os.NewSyscallError("kill", unix.Kill(a.PID, syscall.Signal(a.Code))))
}
