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
		t.outside = t.probe("outside", &syscall.SysProcAttr{})
	}
	return t.outside
}

// Bare returns a probe in a new user and network namespace in which nothing
// was set up: its lo is down, nothing can be reached. It shows that an
// observation of a prepared namespace is not simply how every one looks.
func (t *T) Bare(ctx context.Context) *Agent {
	ginkgo.GinkgoHelper()
	return t.probe("in a bare namespace", &syscall.SysProcAttr{
		Cloneflags:  syscall.CLONE_NEWUSER | syscall.CLONE_NEWNET,
		UidMappings: []syscall.SysProcIDMap{{ContainerID: os.Getuid(), HostID: os.Getuid(), Size: 1}},
		GidMappings: []syscall.SysProcIDMap{{ContainerID: os.Getgid(), HostID: os.Getgid(), Size: 1}},
		// Who makes a namespace may change it; an exec as another uid than 0 would
		// lose that.
		AmbientCaps: []uintptr{unix.CAP_NET_ADMIN},
	})
}

// OtherUser returns a probe outside that runs as another user of the host; it
// needs the host fact two-uids.
func (t *T) OtherUser(ctx context.Context) *Agent {
	ginkgo.GinkgoHelper()
	return t.probe("outside as another user", &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: otherUID, Gid: otherUID}})
}

func (t *T) probe(where string, attr *syscall.SysProcAttr) *Agent {
	ginkgo.GinkgoHelper()
	attr.Pdeathsig = syscall.SIGKILL
	cmd := exec.Command(t.run.cfg.Probe)
	cmd.Dir, cmd.Env, cmd.SysProcAttr = t.dir(), baseEnv(t.dir()), attr
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
