package external

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// controlFD is the helper's end of the socket pair.
const controlFD = 3

// patience is how long a helper may take to clear up once the bridge has gone.
// What is left then is held by the kernel to the helper's own end, if at all.
var patience = 10 * time.Second

// StageBackend is that of a backend which is broken: it gave an error of neither
// kind, or an answer that cannot be.
const StageBackend = "backend"

// Serve is a helper from its beginning to its end: it tells about the backend,
// launches at most one agent, and returns the helper's exit status when nothing
// of the agent is left. The backend's Launch is called on the caller's goroutine,
// locked to its thread: in main that is the one thread that lives as long as the
// process, which a parent-death signal is bound to.
//
// The helper must not ignore signals: the agent would inherit that.
func Serve(b Backend) int {
	runtime.LockOSThread()
	unix.CloseOnExec(controlFD)
	s := server{backend: b, stream: os.NewFile(controlFD, "bridge")}
	return s.serve()
}

// server is the helper's side of the protocol.
type server struct {
	backend Backend
	stream  *os.File

	mu      sync.Mutex
	process Process // nil before it is launched
	killed  bool    // told so, or the bridge has gone
	early   []syscall.Signal
}

// serve gives 1 where the bridge cannot be told.
func (s *server) serve() int {
	about := s.backend.About()
	if send(s.stream, report{About: &about}) != nil {
		return 1
	}
	orders := newLines[order](s.stream, maxOrder)
	first, err := orders.next()
	if err != nil || first.Launch == nil {
		return 0 // the bridge wanted to know no more
	}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	go s.obey(orders, cancel)
	p, err := s.backend.Launch(ctx, *first.Launch, os.Stdin, os.Stdout, os.Stderr)
	if err != nil {
		return s.tell(refusal(err))
	}
	s.adopt(p)
	if s.tell(report{Started: &started{PID: p.PID()}}) != 0 {
		_ = p.Kill() // nobody waits for it
	}
	exited, err := p.Wait()
	if err != nil {
		return s.tell(refusal(fmt.Errorf("wait for the agent: %w", err)))
	}
	return s.tell(report{Exited: &exited})
}

func (s *server) tell(r report) int {
	if send(s.stream, r) != nil {
		return 1
	}
	return 0
}

// refusal is the report of an error.
func refusal(err error) report {
	if r, ok := errors.AsType[*Refused](err); ok {
		return report{Refused: r}
	}
	if f, ok := errors.AsType[*Failed](err); ok {
		return report{Failed: f}
	}
	return report{Failed: &Failed{Stage: StageBackend, Reason: err.Error()}}
}

// adopt makes p the one that orders are for, those of before too.
func (s *server) adopt(p Process) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.process = p
	for _, sig := range s.early {
		_ = p.Signal(sig) // it may have ended
	}
	if s.killed {
		_ = p.Kill() // it may have ended
	}
}

// obey carries out what comes after the launch. The end of the stream, or what is
// no order, ends the agent and, within patience, the helper.
func (s *server) obey(orders *lines[order], cancel func()) {
	for {
		o, err := orders.next()
		switch {
		case err != nil || o.Launch != nil:
			time.AfterFunc(patience, func() { os.Exit(1) })
			s.kill()
			cancel()
			return
		case o.Kill:
			s.kill()
			cancel()
		default:
			s.signal(syscall.Signal(o.Signal))
		}
	}
}

func (s *server) kill() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.killed = true
	if s.process != nil {
		_ = s.process.Kill() // it may have ended
	}
}

func (s *server) signal(sig syscall.Signal) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.process == nil {
		s.early = append(s.early, sig)
		return
	}
	_ = s.process.Signal(sig) // it may have ended
}
