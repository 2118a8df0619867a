package inside

import (
	"errors"
	"slices"
	"strings"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
	"kernel.org/pub/linux/libs/security/libcap/psx"

	"bridgecheck/ref/sandbox/internal/wire"
)

// Exit codes of a shell for a program that could not be executed.
const (
	exitNotExecutable = 126
	exitNotFound      = 127
)

// supervise forks the agent, forwards signals, reaps everything, and reports
// the agent's end.
func supervise(cfg *wire.Config) int {
	started := make(chan int, 1)
	go obey(cfg, started)
	pid, err := start(cfg)
	if errors.Is(err, unix.EAGAIN) || errors.Is(err, unix.ENOMEM) {
		_ = wire.Send(cfg.Control, wire.Report{Failure: failure(at("agent", err))})
		return 1
	}
	if err != nil {
		return end(cfg, exit(err))
	}
	started <- pid
	// The agent's descriptors are the agent's: a reader sees their end when the
	// agent closes them.
	silence(cfg.Descriptors)
	abandon()
	return end(cfg, reap(pid))
}

// start forks and executes the agent from this thread, whose restrictions it
// inherits. It leads a session of its own, which no terminal controls but the
// sandbox's own.
func start(cfg *wire.Config) (int, error) {
	path := cfg.Path
	if !strings.Contains(path, "/") {
		return 0, unix.ENOENT
	}
	argv := append([]string{path}, cfg.Args...)
	files := make([]uintptr, 1+slices.Max(append([]int{2}, cfg.Descriptors...)))
	for fd := range files {
		files[fd] = ^uintptr(0)
		if fd <= 2 || slices.Contains(cfg.Descriptors, fd) {
			files[fd] = uintptr(fd)
		}
	}
	if cfg.Stepped() {
		tty := -1
		if cfg.TTY {
			tty = len(files)
			files = slices.Concat(files, []uintptr{uintptr(cfg.Terminal)})
		}
		step, err := stepArgs(tty, cfg.Limits)
		if err != nil {
			return 0, err
		}
		path, argv = ownProgram, append(append([]string{wire.Arg0Step}, step...), argv...)
	}
	return syscall.ForkExec(path, argv, &syscall.ProcAttr{
		Env: cfg.Env, Files: files, Sys: &syscall.SysProcAttr{Setsid: true},
	})
}

func exit(err error) wire.Exit {
	if errors.Is(err, unix.ENOENT) || errors.Is(err, unix.ENOTDIR) {
		return wire.Exit{Code: exitNotFound}
	}
	return wire.Exit{Code: exitNotExecutable}
}

// silence points the standard streams at /dev/null and closes the declared
// descriptors. The terminal stays open: were it nobody's for a moment, its reader
// would see its end.
func silence(declared []int) {
	for _, fd := range declared {
		closeFD(fd)
	}
	null, err := unix.Open("/dev/null", unix.O_RDWR|unix.O_CLOEXEC, 0)
	for fd := range 3 {
		if err != nil {
			closeFD(fd)
			continue
		}
		_ = unix.Dup3(null, fd, unix.O_CLOEXEC)
	}
}

// abandon drops the capabilities of the other threads, which are not needed any
// more: this process goes on without any.
func abandon() {
	_, _, _ = psx.Syscall3(unix.SYS_CAPSET, uintptr(unsafe.Pointer(&capHeader)), uintptr(unsafe.Pointer(&noCaps[0])), 0)
}

// Package variables, because every thread reads them while goroutine stacks may
// move.
var (
	capHeader = unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	noCaps    [2]unix.CapUserData
)

// reap waits for every child until the agent has ended.
func reap(agent int) wire.Exit {
	for {
		var ws unix.WaitStatus
		pid, err := unix.Wait4(-1, &ws, 0, nil)
		switch {
		case errors.Is(err, unix.EINTR):
		case err != nil: // no child left: the agent's end was missed
			return wire.Exit{Signal: int(unix.SIGKILL)}
		case pid == agent && ws.Exited():
			return wire.Exit{Code: ws.ExitStatus()}
		case pid == agent && ws.Signaled():
			return wire.Exit{Signal: int(ws.Signal())}
		}
	}
}

// foreground are the signals that a terminal sends to the whole foreground group.
var foreground = []unix.Signal{unix.SIGHUP, unix.SIGINT, unix.SIGQUIT, unix.SIGTSTP, unix.SIGCONT, unix.SIGWINCH}

// obey carries out the launcher's orders; when the launcher is gone, so is the
// sandbox.
func obey(cfg *wire.Config, started <-chan int) {
	pid := 0
	for {
		var order wire.Order
		if _, err := wire.Receive(cfg.Control, &order); err != nil {
			sweep(cfg.Level)
			unix.Exit(1)
		}
		if order.Signal == 0 {
			continue
		}
		if pid == 0 {
			pid = <-started
		}
		target, sig := pid, unix.Signal(order.Signal)
		if slices.Contains(foreground, sig) {
			target = -pid
		}
		// The agent may have ended a moment ago, or left its group.
		_ = unix.Kill(target, sig)
	}
}

func end(cfg *wire.Config, e wire.Exit) int {
	sweep(cfg.Level)
	_ = wire.Send(cfg.Control, wire.Report{Exit: &e})
	return 0
}
