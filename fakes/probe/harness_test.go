package probe_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"bridgecheck/fakes/attempt"
	"bridgecheck/fakes/probe"
	"bridgecheck/fakes/process"
)

// asProbe makes the test binary a probe: "bare" as it stands, "lab" with lo up
// and servers in its own network namespace, or one of the other knobs.
const asProbe = "BRIDGECHECK_TEST_PROBE"

func TestMain(m *testing.M) {
	if process.Helper(os.Args) {
		return
	}
	mode := os.Getenv(asProbe)
	if mode == "" {
		os.Exit(m.Run())
	}
	if prepare, found := knobs[mode]; found {
		if err := prepare(); err != nil {
			fmt.Fprintln(os.Stderr, mode+":", err)
			os.Exit(3)
		}
	}
	os.Exit(probe.Run(os.Stdin, os.Stdout, os.Stderr))
}

// agent is a running probe.
type agent struct {
	t      *testing.T
	cmd    *exec.Cmd
	in     io.WriteCloser
	out    *bufio.Reader
	stderr stderrBuffer
	ended  chan error
}

// stderrBuffer is written by one goroutine and read by another.
type stderrBuffer struct {
	mu   sync.Mutex
	text strings.Builder
}

func (b *stderrBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.Write(p)
}

func (b *stderrBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.String()
}

// answerCap is how long a test waits for one observation.
const answerCap = 20 * time.Second

// hostNetNS is the inode of the test's own network namespace.
func hostNetNS(t *testing.T) uint64 {
	t.Helper()
	link, err := os.Readlink("/proc/self/ns/net")
	if err != nil {
		t.Skipf("no /proc: %v", err)
	}
	var inode uint64
	if _, err := fmt.Sscanf(link, "net:[%d]", &inode); err != nil {
		t.Fatal(err)
	}
	return inode
}

// start starts a probe; with isolate it stands in a user and network namespace
// of its own. The order names the test's namespace as the host's.
func start(t *testing.T, mode string, isolate bool, env ...string) *agent {
	t.Helper()
	a := &agent{t: t, cmd: exec.Command("/proc/self/exe"), ended: make(chan error, 1)}
	a.cmd.Env = append(os.Environ(), append(env, asProbe+"="+mode, "GORACE=atexit_sleep_ms=0")...)
	a.cmd.Stderr = &a.stderr
	a.cmd.WaitDelay = answerCap
	a.cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if isolate {
		// Mapped to uid 0, or the exec would lose the capability to set lo up.
		a.cmd.SysProcAttr.Cloneflags = syscall.CLONE_NEWUSER | syscall.CLONE_NEWNET | syscall.CLONE_NEWNS
		a.cmd.SysProcAttr.UidMappings = []syscall.SysProcIDMap{{HostID: os.Getuid(), Size: 1}}
		a.cmd.SysProcAttr.GidMappings = []syscall.SysProcIDMap{{HostID: os.Getgid(), Size: 1}}
	}
	in, err := a.cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := a.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	a.in, a.out = in, bufio.NewReader(out)
	started := make(chan error)
	done := make(chan struct{})
	go func() { // Pdeathsig is bound to the thread that started the child
		runtime.LockOSThread()
		started <- a.cmd.Start()
		<-done
	}()
	if err := <-started; err != nil {
		close(done)
		if isolate {
			t.Skipf("no user and network namespace here: %v", err)
		}
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = a.cmd.Process.Kill()
		_ = a.cmd.Wait()
		close(done)
	})
	a.write(attempt.Order{HostNetNS: hostNetNS(t), Nonce: "n0"})
	return a
}

func (a *agent) write(v any) {
	a.t.Helper()
	line, err := json.Marshal(v)
	if err != nil {
		a.t.Fatal(err)
	}
	if _, err := a.in.Write(append(line, '\n')); err != nil {
		a.t.Fatalf("write: %v; stderr: %s", err, a.stderr.String())
	}
}

// read is the next observation.
func (a *agent) read() attempt.Observation {
	a.t.Helper()
	timer := time.AfterFunc(answerCap, func() { _ = a.cmd.Process.Kill() })
	defer timer.Stop()
	line, err := a.out.ReadBytes('\n')
	if err != nil {
		a.t.Fatalf("no observation: %v; stderr: %s", err, a.stderr.String())
	}
	var o attempt.Observation
	if err := json.Unmarshal(line, &o); err != nil {
		a.t.Fatalf("%q: %v", line, err)
	}
	if o.Nonce != "n0" {
		a.t.Fatalf("nonce %q", o.Nonce)
	}
	return o
}

func (a *agent) do(att attempt.Attempt) attempt.Observation {
	a.t.Helper()
	att.ID = 17
	a.write(att)
	o := a.read()
	if o.ID != att.ID {
		a.t.Fatalf("id %d", o.ID)
	}
	return o
}

// must makes an attempt that has to succeed.
func (a *agent) must(att attempt.Attempt) attempt.Observation {
	a.t.Helper()
	o := a.do(att)
	if o.Refused != "" || o.Errno != "" {
		a.t.Fatalf("%s: refused %q, errno %q, error %q", att.Op, o.Refused, o.Errno, o.Error)
	}
	return o
}

// want makes an attempt that has to end in the errno.
func (a *agent) want(errno string, att attempt.Attempt) attempt.Observation {
	a.t.Helper()
	o := a.do(att)
	if o.Refused != "" || o.Errno != errno {
		a.t.Errorf("%s: refused %q, errno %q (%s), want %q", att.Op, o.Refused, o.Errno, o.Error, errno)
	}
	return o
}
