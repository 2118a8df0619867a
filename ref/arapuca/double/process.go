package arapuca

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"syscall"

	"github.com/LeGambiArt/go-arapuca/behaviour"
)

// Process is a sandboxed process.
type Process struct {
	process *os.Process
	pid     int
	dir     string
	// line tells the program to end, by its own end.
	lineMu sync.Mutex
	line   *os.File

	mu     sync.Mutex
	waited bool
	code   int
	err    error
}

// start starts the program and waits until what it launches runs.
func start(cfg Config, line, env []string, extra []*os.File, dir string) (*Process, error) {
	path := WrapperPath()
	if path == "" {
		return nil, errors.New("arapuca: launch: there is no program arapuca, neither beside this one nor in PATH")
	}
	fds, err := syscall.Socketpair(syscall.AF_UNIX, syscall.SOCK_STREAM|syscall.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, fmt.Errorf("arapuca: launch: socketpair: %w", err)
	}
	ours, theirs := os.NewFile(uintptr(fds[0]), "arapuca"), os.NewFile(uintptr(fds[1]), "arapuca")
	defer theirs.Close()
	files := []*os.File{or(cfg.Stdin, os.Stdin), or(cfg.Stdout, os.Stdout), or(cfg.Stderr, os.Stderr)}
	process, err := os.StartProcess(path, line, &os.ProcAttr{
		Dir: "/", Files: append(append(files, extra...), theirs),
		Env: env,
		// The program ends with the thread that started it, as arapuca's does.
		Sys: &syscall.SysProcAttr{Setsid: true, Pdeathsig: syscall.SIGKILL},
	})
	if err != nil {
		ours.Close()
		return nil, fmt.Errorf("arapuca: launch: %w", err)
	}
	theirs.Close()
	p := &Process{process: process, pid: process.Pid, dir: dir, line: ours}
	said, err := bufio.NewReader(ours).ReadString('\n')
	if said = strings.TrimSuffix(said, "\n"); said == "ok" {
		running.Lock()
		defer running.Unlock()
		if running.all == nil {
			running.all = map[*Process]bool{}
		}
		running.all[p] = true
		return p, nil
	}
	_, _ = process.Wait() // it has told why, or died
	ours.Close()
	if strings.HasPrefix(said, "proxy: ") && behaviour.Has(behaviour.ExitOfHost) {
		os.Exit(125)
	}
	if said == "" {
		return nil, fmt.Errorf("arapuca: launch: the program ended: %w", err)
	}
	return nil, errors.New("arapuca: launch: " + said)
}

func or(f, inherited *os.File) *os.File {
	if f == nil {
		return inherited
	}
	return f
}

// kill ends everything; Wait tells when it has.
func (p *Process) kill() {
	p.lineMu.Lock()
	defer p.lineMu.Unlock()
	if p.line != nil {
		p.line.Close()
		p.line = nil
	}
}

// PID is that of the sandboxed process.
func (p *Process) PID() int { return p.pid }

// Wait gives the exit code. For a death by signal that is 0, and the error says
// by which.
func (p *Process) Wait() (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.waited {
		return p.code, p.err
	}
	state, err := p.process.Wait()
	p.waited = true
	p.release()
	if err != nil {
		p.err = fmt.Errorf("arapuca: wait: %w", err)
		return 0, p.err
	}
	status := state.Sys().(syscall.WaitStatus)
	if !status.Signaled() {
		p.code = status.ExitStatus()
	} else if !behaviour.Has(behaviour.SignalLost) {
		p.err = fmt.Errorf("killed by signal %d", status.Signal())
	}
	return p.code, p.err
}

func (p *Process) release() {
	running.Lock()
	delete(running.all, p)
	running.Unlock()
	p.kill()
	if !behaviour.Has(behaviour.ProxyLeft) {
		_ = os.RemoveAll(p.dir) // the system's own sweep gets what cannot be removed
	}
}

// ResourceUsage is what the process has used, by its control group.
type ResourceUsage struct {
	MemoryCurrentBytes, MemoryPeakBytes int64
	CPUUsageSeconds                     float64
	PIDCount, IOReadBytes, IOWriteBytes int64
}

// ResourceStats is the zero value: the double has no control group.
func (p *Process) ResourceStats() ResourceUsage { return ResourceUsage{} }

// OOMCount is 0: the double has no control group.
func (p *Process) OOMCount() int { return 0 }

// Cleanup removes what is left; it may be called more than once.
func (p *Process) Cleanup() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.waited {
		return
	}
	p.release()
}
