package sandbox

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"runtime"
	"slices"
	"strconv"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"bridgecheck/ref/sandbox/internal/wire"
)

// setUp bounds the time until a sandbox is ready; the usual is 5 ms. What can
// take longer is a mount of a network file system that does not answer.
const setUp = 30 * time.Second

// Launch makes a sandbox with every layer in force, up to the agent's first
// instruction, which Start allows. The context bounds the making only.
//
// A Spec that is not honoured gives a *Refusal, a host that does not allow it a
// *Failure; nothing is left of either. A sandbox that is not started must be
// killed. Descriptors above 2 of this process become close-on-exec.
func Launch(ctx context.Context, spec Spec) (*Sandbox, error) {
	cfg, err := resolve(&spec)
	if err != nil {
		return nil, err
	}
	var doors []Listener
	if spec.Level != Isolated {
		if doors, err = hostListeners(spec.Ports); err != nil {
			return nil, NewFailure(StageListen, err)
		}
	}
	s, err := spawn(&spec, cfg)
	if err != nil {
		closeAll(doors)
		return nil, err
	}
	s.listeners = doors
	ctx, cancel := context.WithTimeout(ctx, setUp)
	defer cancel()
	if err := s.prepare(ctx); err != nil {
		return nil, err
	}
	return s, nil
}

// prepare waits until the sandbox is ready; one that is not is gone when it
// returns.
func (s *Sandbox) prepare(ctx context.Context) error {
	ready := make(chan error, 1)
	go s.listen(ready)
	select {
	case err := <-ready:
		if err == nil {
			return nil
		}
		s.end()
		return err
	case <-ctx.Done():
		s.end()
		return NewFailure(StageReady, fmt.Errorf("the sandbox was not ready in time: %w", context.Cause(ctx)))
	}
}

// end clears up what was not ready.
func (s *Sandbox) end() {
	_ = s.Kill() // a sandbox that is gone needs no killing
	<-s.done
	if s.terminal != nil {
		_ = s.terminal.Close() // nobody else has seen it
	}
}

// spawn starts the init process.
func spawn(spec *Spec, cfg *wire.Config) (*Sandbox, error) {
	// Inherited descriptors that are not declared must not even reach the init
	// process.
	if err := unix.CloseRange(3, ^uint(0), unix.CLOSE_RANGE_CLOEXEC); err != nil {
		return nil, NewFailure(StageDescriptors, fmt.Errorf("close_range(CLOEXEC): %w", err))
	}
	pair, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_SEQPACKET|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, NewFailure(StageInit, fmt.Errorf("socketpair: %w", err))
	}
	defer unix.Close(pair[1])
	cfg.Control = free(cfg.Descriptors, 3)
	config := free(cfg.Descriptors, cfg.Control+1)
	memory, err := memoryFile(cfg)
	if err != nil {
		unix.Close(pair[0])
		return nil, NewFailure(StageInit, err)
	}
	defer memory.Close()
	null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err != nil {
		unix.Close(pair[0])
		return nil, NewFailure(StageInit, err)
	}
	defer null.Close()

	files := make([]uintptr, 1+slices.Max(append([]int{config}, cfg.Descriptors...)))
	for i := range files {
		files[i] = ^uintptr(0)
	}
	for i, f := range []*os.File{spec.Stdin, spec.Stdout, spec.Stderr} {
		if f == nil {
			f = null
		}
		files[i] = f.Fd()
	}
	for _, fd := range cfg.Descriptors {
		files[fd] = uintptr(fd)
	}
	files[cfg.Control], files[config] = uintptr(pair[1]), memory.Fd()

	s := &Sandbox{control: pair[0], pidfd: -1, ownPIDs: spec.Level != SharedNone, grouped: spec.Grouped, done: make(chan struct{})}
	s.pid, err = syscall.ForkExec("/proc/self/exe", []string{wire.Arg0, strconv.Itoa(config)},
		&syscall.ProcAttr{Dir: "/", Files: files, Env: []string{}, Sys: attributes(spec.Level, &s.pidfd)})
	runtime.KeepAlive(spec) // the descriptors of its files are in use until here
	if err != nil {
		unix.Close(pair[0])
		return nil, NewFailure(StageClone, fmt.Errorf("make the namespaces (%s): %w", spec.Level, err))
	}
	return s, nil
}

const (
	sharedFlags = syscall.CLONE_NEWUSER | syscall.CLONE_NEWPID | syscall.CLONE_NEWNS | syscall.CLONE_NEWIPC | syscall.CLONE_NEWUTS
	allFlags    = sharedFlags | syscall.CLONE_NEWNET
)

// attributes keep the caller's user and group inside: a file of the caller's is
// the agent's own, and nothing else is. Capabilities over the new namespaces
// survive the exec as ambient ones; SETPCAP is what empties the bounding set.
func attributes(level Level, pidfd *int) *syscall.SysProcAttr {
	a := &syscall.SysProcAttr{Setsid: true, PidFD: pidfd}
	if level == SharedNone {
		return a
	}
	a.Cloneflags = sharedFlags
	if level == Isolated {
		a.Cloneflags = allFlags
	}
	uid, gid := os.Geteuid(), os.Getegid()
	a.UidMappings = []syscall.SysProcIDMap{{ContainerID: uid, HostID: uid, Size: 1}}
	a.GidMappings = []syscall.SysProcIDMap{{ContainerID: gid, HostID: gid, Size: 1}}
	a.AmbientCaps = []uintptr{unix.CAP_NET_ADMIN, unix.CAP_NET_BIND_SERVICE, unix.CAP_SYS_ADMIN, unix.CAP_SETPCAP}
	return a
}

// free is the first descriptor number from n on that is not declared.
func free(declared []int, n int) int {
	for slices.Contains(declared, n) {
		n++
	}
	return n
}

// memoryFile holds the configuration; unlike an argument or a variable it is
// not to be seen in /proc.
func memoryFile(cfg *wire.Config) (*os.File, error) {
	fd, err := unix.MemfdCreate("sandbox-config", unix.MFD_CLOEXEC)
	if err != nil {
		return nil, fmt.Errorf("memfd_create: %w", err)
	}
	f := os.NewFile(uintptr(fd), "sandbox-config")
	if err := json.NewEncoder(f).Encode(cfg); err != nil {
		return nil, errors.Join(fmt.Errorf("write the configuration: %w", err), f.Close())
	}
	if _, err := f.Seek(0, 0); err != nil {
		return nil, errors.Join(fmt.Errorf("write the configuration: %w", err), f.Close())
	}
	return f, nil
}
