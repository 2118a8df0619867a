package contain

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"syscall"

	"golang.org/x/sys/unix"
)

// Start runs cmd at the given level; an empty level means [Namespace] where it
// can be had and [ProcessGroup] elsewhere. A level that was named and cannot be
// had is [ErrUnavailable]; a program that cannot be executed is the error of
// execve(2).
func Start(cmd Command, level string) (*Tree, error) {
	if !mainCalled.Load() {
		return nil, errors.New("start a contained command: the program must call contain.Main first")
	}
	switch level {
	case ProcessGroup:
		return start(cmd, ProcessGroup, &syscall.SysProcAttr{Setsid: true})
	case Namespace, "":
	default:
		return nil, fmt.Errorf("containment %q is unknown; use %s or %s", level, Namespace, ProcessGroup)
	}
	var err error
	for _, attr := range namespaceAttrs() {
		var t *Tree
		if t, err = start(cmd, Namespace, attr); err == nil || !errors.Is(err, ErrUnavailable) {
			return t, err
		}
	}
	if level == Namespace {
		return nil, fmt.Errorf("%w; allow user namespaces, or set containment: %s", err, ProcessGroup)
	}
	return Start(cmd, ProcessGroup)
}

// namespaceAttrs are the ways to a PID namespace, the one that takes least
// from the command first.
func namespaceAttrs() []*syscall.SysProcAttr {
	const flags = unix.CLONE_NEWPID | unix.CLONE_NEWNS
	uid, gid := os.Getuid(), os.Getgid()
	user := &syscall.SysProcAttr{
		Setsid:      true,
		Cloneflags:  flags | unix.CLONE_NEWUSER,
		UidMappings: []syscall.SysProcIDMap{{ContainerID: uid, HostID: uid, Size: 1}},
		GidMappings: []syscall.SysProcIDMap{{ContainerID: gid, HostID: gid, Size: 1}},
	}
	if os.Geteuid() != 0 {
		user.AmbientCaps = []uintptr{unix.CAP_SYS_ADMIN} // for the mounts; see dropAmbient
		return []*syscall.SysProcAttr{user}
	}
	return []*syscall.SysProcAttr{{Setsid: true, Cloneflags: flags}, user}
}

// start runs the intermediate and waits until it has started the command.
func start(cmd Command, level string, attr *syscall.SysProcAttr) (_ *Tree, err error) {
	line, err := encodeOrder(cmd)
	if err != nil {
		return nil, err
	}
	p, err := newPipes()
	if err != nil {
		return nil, err
	}
	defer func() {
		p.closeTheirs()
		if err != nil {
			p.closeOurs()
		}
	}()
	c := exec.Command("/proc/self/exe")
	c.Args = []string{Role, level}
	c.Env = []string{}
	c.SysProcAttr = attr
	c.Stdin, c.Stdout, c.Stderr = p.stdin.r, p.stdout.w, p.stderr.w
	c.ExtraFiles = []*os.File{p.control.r, p.report.w}
	if err := c.Start(); err != nil {
		if level == Namespace {
			return nil, fmt.Errorf("%w: create namespaces: %w", ErrUnavailable, err)
		}
		return nil, fmt.Errorf("start %s: %w", Role, err)
	}
	p.closeTheirs()
	t := &Tree{
		Level: level, Stdin: p.stdin.w, Stdout: p.stdout.r, Stderr: p.stderr.r,
		cmd: c, control: p.control.w, reports: bufio.NewReader(p.report.r), reportPipe: p.report.r,
		done: make(chan struct{}),
	}
	if err := t.handshake(cmd, line); err != nil {
		_ = c.Process.Kill()
		_ = c.Wait()
		return nil, err
	}
	go t.wait()
	return t, nil
}

// handshake sends the order and reads whether the command runs.
func (t *Tree) handshake(cmd Command, line []byte) error {
	if _, err := t.control.Write(line); err != nil {
		return fmt.Errorf("order %s: %w", Role, err)
	}
	var r report
	if err := t.readReport(&r); err != nil {
		return fmt.Errorf("start %s: %w", Role, err)
	}
	switch {
	case r.Started:
		return nil
	case r.Stage == stageContain:
		return fmt.Errorf("%w: %s", ErrUnavailable, r.Detail)
	case r.Errno != 0:
		return &os.PathError{Op: "execute", Path: cmd.Path, Err: r.Errno}
	}
	return errors.New(r.Detail)
}

func (t *Tree) readReport(r *report) error {
	line, err := t.reports.ReadBytes('\n')
	if err != nil {
		return fmt.Errorf("read report: %w", err)
	}
	return json.Unmarshal(line, r)
}
