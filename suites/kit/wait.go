package kit

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/onsi/ginkgo/v2"

	"bridgecheck/fakes/attempt"
)

// pollEvery is how often a fact that has no notification is asked for.
const pollEvery = 2 * time.Millisecond

// waitCap bounds a wait for the subject; like [specCap] it is no measurement.
const waitCap = 30 * time.Second

// Fate waits until the subject has ended or its agent has answered, whichever
// comes first, and says which: "the agent runs", or how the subject ended.
func (p *Phase) Fate(ctx context.Context) string {
	ginkgo.GinkgoHelper()
	answered := make(chan error, 1)
	go func() {
		_, err := p.Agent.try(ctx, attempt.Attempt{Op: attempt.OpFacts})
		answered <- err
	}()
	select {
	case err := <-answered:
		if err == nil {
			return "the agent runs"
		}
	case <-p.done:
	}
	return p.Wait(ctx).String()
}

// Wait waits until the subject's process has ended.
func (p *Phase) Wait(ctx context.Context) Exit {
	ginkgo.GinkgoHelper()
	ctx, cancel := context.WithTimeout(ctx, waitCap)
	defer cancel()
	select {
	case <-p.done:
	case <-ctx.Done():
		ginkgo.Fail("the subject did not end\n" + p.fate())
	}
	status := p.cmd.ProcessState.Sys().(syscall.WaitStatus)
	if status.Signaled() {
		return Exit{Signal: status.Signal()}
	}
	return Exit{Code: status.ExitStatus()}
}

// Finish ends the probe by end of input and waits for the subject.
func (p *Phase) Finish(ctx context.Context) Exit {
	ginkgo.GinkgoHelper()
	p.Stdin.Close()
	return p.Wait(ctx)
}

// Signal sends a signal to the subject's process alone.
func (p *Phase) Signal(s syscall.Signal) {
	if p.ended() {
		return
	}
	_ = p.cmd.Process.Signal(s)
}

// SpecFile is the file with the spec that the subject was given.
func (p *Phase) SpecFile() string { return filepath.Join(p.dir, "spec.json") }

// Temp is the subject's TMPDIR, of this phase alone.
func (p *Phase) Temp() string { return filepath.Join(p.dir, "tmp") }

// TempFiles are the names that lie there.
func (p *Phase) TempFiles() []string {
	entries, err := os.ReadDir(p.Temp())
	if err != nil {
		p.t.Fatal("look into TMPDIR: %v", err)
	}
	names := []string{}
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}

// Stderr is what the subject and its agent wrote there, the last 64 KiB of it.
func (p *Phase) Stderr() string { return p.stderr.String() }

func (p *Phase) ended() bool {
	select {
	case <-p.done:
		return true
	default:
		return false
	}
}

// fate tells a person what became of the subject.
func (p *Phase) fate() string {
	var b strings.Builder
	if p.ended() {
		fmt.Fprintf(&b, "the subject has ended: %s", p.cmd.ProcessState)
	} else {
		fmt.Fprintf(&b, "the subject is running (pid %d)", p.PID)
	}
	for _, e := range p.events.read() {
		if slices.Contains([]string{"error", "unsupported", "exit"}, e.Kind) {
			fmt.Fprintf(&b, "\nevent %s: %s %s %s", e.Kind, e.Stage, e.Field, e.Reason)
		}
	}
	if s := strings.TrimSpace(p.Stderr()); s != "" {
		fmt.Fprintf(&b, "\nstderr: %s", s)
	}
	return b.String()
}

// end is the clean-up: what is still there is killed and waited for.
func (p *Phase) end() {
	p.Stdin.Close()
	if p.Control != nil {
		p.Control.close()
	}
	if !p.ended() {
		_ = p.cmd.Process.Signal(syscall.SIGTERM)
		select {
		case <-p.done:
		case <-time.After(5 * time.Second):
			_ = syscall.Kill(-p.PID, syscall.SIGKILL)
			<-p.done
		}
	}
	p.Stdout.Close()
}

// Await waits until f is true; it fails the check with what was awaited when
// the context ends first.
func (t *T) Await(ctx context.Context, what string, f func() bool) {
	ginkgo.GinkgoHelper()
	if !Settle(ctx, waitCap, f) {
		ginkgo.Fail("this did not come about: " + what)
	}
}

// Settle waits until f is true, for bound at most, and tells whether it is: for
// what a check measures next, where its absence is the finding.
func Settle(ctx context.Context, bound time.Duration, f func() bool) bool {
	ctx, cancel := context.WithTimeout(ctx, bound)
	defer cancel()
	tick := time.NewTicker(pollEvery)
	defer tick.Stop()
	for !f() {
		select {
		case <-ctx.Done():
			return false
		case <-tick.C:
		}
	}
	return true
}

// tail keeps the last 64 KiB written to it.
type tail struct {
	mu  sync.Mutex
	buf []byte
}

func (t *tail) Write(p []byte) (int, error) {
	const most = 64 << 10
	t.mu.Lock()
	defer t.mu.Unlock()
	t.buf = append(t.buf, p...)
	if len(t.buf) > most {
		t.buf = append(t.buf[:0:0], t.buf[len(t.buf)-most:]...)
	}
	return len(p), nil
}

func (t *tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return string(t.buf)
}

// dir is the check's own folder in the lab.
func (t *T) dir() string {
	dir := fmt.Sprintf("%s/%s", t.run.work, strings.ToLower(t.check.id()))
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal("make work folder: %v", err)
	}
	return dir
}

// Dir makes a folder of the check's own and returns its path.
func (t *T) Dir(name string) string {
	dir := t.dir() + "/" + name
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal("make folder: %v", err)
	}
	return dir
}

// Cleanup calls f when the check has ended, after what was made later than now.
func (t *T) Cleanup(f func()) { ginkgo.DeferCleanup(f) }
