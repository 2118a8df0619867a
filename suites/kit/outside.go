package kit

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"syscall"
	"time"

	"github.com/onsi/ginkgo/v2"
	"golang.org/x/sys/unix"
)

// Outside returns a probe that runs in the lab, outside of any sandbox: the
// witness of what is possible at all. There is one a check.
func (t *T) Outside(ctx context.Context) *Agent {
	ginkgo.GinkgoHelper()
	if t.outside == nil {
		t.outside = t.probe("outside", nil, &syscall.SysProcAttr{})
	}
	return t.outside
}

// OutsideWith returns another probe outside, with more in its environment.
func (t *T) OutsideWith(ctx context.Context, env ...string) *Agent {
	ginkgo.GinkgoHelper()
	return t.probe("outside", env, &syscall.SysProcAttr{})
}

// OnTerminal returns a probe outside whose controlling terminal is this one.
func (t *T) OnTerminal(ctx context.Context, terminal *os.File) *Agent {
	ginkgo.GinkgoHelper()
	return t.probe("outside on a terminal", nil, &syscall.SysProcAttr{Setsid: true, Setctty: true, Ctty: 3}, terminal)
}

// Bare returns a probe in a new user, network and mount namespace in which
// nothing was set up and nothing is refused: its lo is down, nothing can be
// reached, and all of it may be changed. It shows that an observation of a
// prepared namespace is not simply how every one looks.
func (t *T) Bare(ctx context.Context) *Agent {
	ginkgo.GinkgoHelper()
	attr := ownNetwork()
	attr.Cloneflags |= syscall.CLONE_NEWNS
	// Who makes a namespace may change it; an exec as another uid than 0 would
	// lose that.
	attr.AmbientCaps = []uintptr{unix.CAP_NET_ADMIN, unix.CAP_NET_RAW, unix.CAP_SYS_ADMIN}
	return t.probe("in a bare namespace", nil, attr)
}

// OtherUser returns a probe outside that runs as another user of the host; it
// needs the host fact two-uids.
func (t *T) OtherUser(ctx context.Context) *Agent {
	ginkgo.GinkgoHelper()
	return t.probe("outside as another user", nil, &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: otherUID, Gid: otherUID}})
}

func (t *T) probe(where string, env []string, attr *syscall.SysProcAttr, files ...*os.File) *Agent {
	ginkgo.GinkgoHelper()
	attr.Pdeathsig = syscall.SIGKILL
	cmd := exec.Command(t.run.cfg.Probe)
	cmd.Dir, cmd.Env, cmd.SysProcAttr = t.dir(), append(baseEnv(t.dir()), env...), attr
	cmd.ExtraFiles = files
	stderr := &tail{}
	cmd.Stderr, cmd.WaitDelay = stderr, time.Second
	stdin, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal("probe %s: %v", where, err)
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal("probe %s: %v", where, err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal("probe %s: %v", where, err)
	}
	t.mu.Lock()
	t.pids[cmd.Process.Pid] = true
	t.mu.Unlock()
	a := newAgent(t, where, stdin, stdout)
	a.harness = true
	a.ended = func() string { return fmt.Sprintf("probe %s, stderr: %s", where, stderr) }
	ginkgo.DeferCleanup(func() {
		stdin.Close()
		_ = cmd.Process.Kill()
		_ = cmd.Wait() // killed on purpose
	})
	t.agents = append(t.agents, a)
	if err := a.hello(t.run.cfg.HostNetNS); err != nil {
		t.Fatal("probe %s: %v", where, err)
	}
	return a
}
