package launcher

import (
	"context"
	"errors"
	"fmt"
	"os"
	"regexp"
	"strconv"
	"sync"
	"syscall"
	"time"

	arapuca "github.com/LeGambiArt/go-arapuca"
	"golang.org/x/sys/unix"

	"bridgecheck/ref/sandbox/external"
)

// stageVersions is that of an [external.Failed] for a library and a program that
// do not belong together.
const stageVersions = "versions"

// Launch starts the agent on the calling thread, which must live as long as the
// agent: what arapuca forks is bound to it by a parent-death signal.
func (b Backend) Launch(ctx context.Context, l external.Launch, stdin, stdout, stderr *os.File) (external.Process, error) {
	if err := mismatch(Versions()); err != nil {
		return nil, &external.Failed{Stage: stageVersions, Reason: err.Error()}
	}
	cfg, err := configOf(l)
	if err != nil {
		return nil, &external.Refused{Field: "Spec", Reason: err.Error()}
	}
	cfg.Stdin, cfg.Stdout, cfg.Stderr = stdin, stdout, stderr
	box, err := arapuca.New()
	if err != nil {
		return nil, external.Explain(err.Error())
	}
	ctx, cancel := context.WithCancel(ctx)
	p, err := box.Launch(ctx, cfg, l.Path, l.Args, nil)
	if err != nil {
		cancel()
		box.Close()
		return nil, external.Explain(err.Error())
	}
	// Its number may be another's once it has ended; a descriptor never is.
	pidfd, err := unix.PidfdOpen(p.PID(), 0)
	if err != nil {
		pidfd = -1 // it has ended, and is not waited for yet
	}
	return &process{box: box, process: p, cancel: cancel, pidfd: pidfd, ended: make(chan struct{})}, nil
}

// process is a launched agent.
type process struct {
	box     *arapuca.Sandbox
	process *arapuca.Process
	cancel  context.CancelFunc

	mu    sync.Mutex // guards pidfd against its closing
	pidfd int        // -1 when it has ended
	ended chan struct{}
}

func (p *process) PID() int { return p.process.PID() }

// Signal goes to the agent itself: the library has no call for it.
func (p *process) Signal(s syscall.Signal) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.pidfd < 0 {
		return nil
	}
	if err := unix.PidfdSendSignal(p.pidfd, s, nil, 0); err != nil && !errors.Is(err, unix.ESRCH) {
		return fmt.Errorf("signal %d: %w", s, err)
	}
	return nil
}

// unheard is how long the library may take over a cancelled context.
const unheard = 2 * time.Second

// Kill cancels the context, which with a process namespace of the agent's own is
// said to reach nothing; what is still there is then killed by its number.
func (p *process) Kill() error {
	p.cancel()
	go func() {
		select {
		case <-p.ended:
		case <-time.After(unheard):
			_ = p.Signal(unix.SIGKILL) // it may have ended meanwhile
		}
	}()
	return nil
}

// Wait always cleans up: the library's own Wait leaves its proxy.
func (p *process) Wait() (external.Exited, error) {
	code, err := p.process.Wait()
	close(p.ended)
	p.mu.Lock()
	if p.pidfd >= 0 {
		unix.Close(p.pidfd)
		p.pidfd = -1
	}
	p.mu.Unlock()
	p.process.Cleanup()
	p.cancel()
	p.box.Close()
	return exited(code, err)
}

var bySignal = regexp.MustCompile(`killed by signal ([0-9]+)`)

// exited is the end of an agent. The library gives a death by signal as code 0,
// and an error that names the signal.
func exited(code int, err error) (external.Exited, error) {
	if err == nil {
		return external.Exited{Code: code}, nil
	}
	if m := bySignal.FindStringSubmatch(err.Error()); m != nil {
		if n, err := strconv.Atoi(m[1]); err == nil && n > 0 {
			return external.Exited{Signal: n}, nil
		}
	}
	return external.Exited{}, err
}

var _ external.Backend = Backend{}
