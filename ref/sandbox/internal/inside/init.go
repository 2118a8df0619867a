package inside

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"

	"golang.org/x/sys/unix"

	"bridgecheck/ref/sandbox/internal/wire"
)

// Run is the init process; it does not return. The configuration is read from
// the descriptor given.
func Run(config uintptr) {
	code := make(chan int)
	go apart(func() { code <- run(config) })
	unix.Exit(<-code) // at once: nothing here is to be flushed
}

// apart runs f on a thread of its own that serves no other goroutine again:
// restrictions are a thread's. It is not the main one, whose Landlock domain
// is the process's to others: the agent may not even signal this process.
func apart(f func()) {
	runtime.LockOSThread()
	if unix.Gettid() == unix.Getpid() {
		go apart(f)
		select {} // keeps the main thread
	}
	f()
}

func run(config uintptr) int {
	cfg, err := read(config)
	if err != nil {
		fmt.Fprintln(os.Stderr, "sandbox:", err)
		return 1
	}
	if err := prepare(cfg); err != nil {
		// A launcher that is gone needs no answer.
		_ = wire.Send(cfg.Control, wire.Report{Failure: failure(err)})
		return 1
	}
	var order wire.Order
	if _, err := wire.Receive(cfg.Control, &order); err != nil || !order.Go {
		return 1
	}
	return supervise(cfg)
}

func read(config uintptr) (*wire.Config, error) {
	f := os.NewFile(config, "config")
	defer f.Close()
	cfg := new(wire.Config)
	if err := json.NewDecoder(f).Decode(cfg); err != nil && !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("read the sandbox's configuration: %w", err)
	}
	return cfg, nil
}

// prepare does all that comes before the agent, in the order that works:
// descriptors first, so that nothing undeclared is ever held here; the network
// and the mounts while there are capabilities; restrictions; the check.
func prepare(cfg *wire.Config) error {
	if err := unix.CloseRange(3, ^uint(0), unix.CLOSE_RANGE_CLOEXEC); err != nil {
		return at("descriptors", fmt.Errorf("close_range(CLOEXEC): %w", err))
	}
	// Its memory, environment and descriptors are not for the agent to read.
	if err := unix.Prctl(unix.PR_SET_DUMPABLE, 0, 0, 0, 0); err != nil {
		return at("descriptors", fmt.Errorf("prctl(PR_SET_DUMPABLE): %w", err))
	}
	listeners, err := network(cfg)
	if err != nil {
		return err
	}
	if cfg.Level == wire.SharedNone {
		if err := unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); err != nil {
			return at("init", fmt.Errorf("prctl(PR_SET_CHILD_SUBREAPER): %w", err))
		}
		if err := unix.Chdir(cfg.Cwd); err != nil {
			return at("init", fmt.Errorf("chdir(%s): %w", cfg.Cwd, err))
		}
	} else {
		if err := deafen(); err != nil {
			return at("init", err)
		}
		ownControlGroups()
		if err := newRoot(cfg); err != nil {
			return err
		}
	}
	if cfg.TTY {
		if err := terminal(cfg); err != nil {
			return at("terminal", err)
		}
	}
	applied, err := restrict(cfg)
	if err != nil {
		return err
	}
	layers, err := selfCheck(cfg, applied)
	if err != nil {
		return err
	}
	if err := handOver(cfg.Control, listeners); err != nil {
		return at("ready", err)
	}
	return at("ready", wire.Send(cfg.Control, wire.Report{Ready: &wire.Ready{Layers: layers, LandlockABI: applied.abi}}))
}

// stageError names the step that did not work.
type stageError struct {
	stage string
	err   error
}

func (e *stageError) Error() string { return e.stage + ": " + e.err.Error() }
func (e *stageError) Unwrap() error { return e.err }

// at keeps a stage that was named further in.
func at(stage string, err error) error {
	var inner *stageError
	if err == nil || errors.As(err, &inner) {
		return err
	}
	return &stageError{stage, err}
}

func failure(err error) *wire.Failure {
	f := &wire.Failure{Stage: "init", Text: err.Error()}
	if se, ok := errors.AsType[*stageError](err); ok {
		f.Stage, f.Text = se.stage, se.err.Error()
	}
	if errno, ok := errors.AsType[unix.Errno](err); ok {
		f.Errno = int(errno)
	}
	return f
}
