package sandbox

import (
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
	"syscall"

	"golang.org/x/sys/unix"

	"bridgecheck/ref/sandbox/internal/wire"
)

// Sandbox is one tree of processes, from Launch to the end of the agent.
type Sandbox struct {
	pid, pidfd int
	ownPIDs    bool // the end of the init process is the end of all
	listeners  []Listener
	layers     map[string]string

	landlockABI int
	grouped     bool
	terminal    *os.File

	mu      sync.Mutex // guards control against its closing
	control int        // -1 when closed

	done chan struct{} // closed when nothing is left; exit and err are set then
	exit Exit
	err  error
}

// Exit is how the agent ended: by a signal, or with a code. 126 and 127 are a
// shell's codes for a program that could not be executed, or was not found.
type Exit struct {
	Code   int
	Signal syscall.Signal // 0 when it exited
}

// Layers tell what is in force, read back from inside: on, off (not asked for)
// or missing (not to be had at this level).
func (s *Sandbox) Layers() map[string]string { return s.layers }

// LandlockABI is the one in force: what it restricts is less on an older
// kernel. It is 0 where Landlock is off.
func (s *Sandbox) LandlockABI() int { return s.landlockABI }

// Listeners are the doors of the sandbox, to be accepted on by this process.
// They are closed when the agent has ended: an open one would keep the network
// namespace alive.
func (s *Sandbox) Listeners() []Listener { return s.listeners }

// PID is the init process, as this process's PID namespace numbers it.
func (s *Sandbox) PID() int { return s.pid }

// Start lets the agent run.
func (s *Sandbox) Start() error { return s.order(wire.Order{Go: true}) }

// Signal sends a signal to the agent; one that a terminal would send to the
// foreground (HUP, INT, QUIT, TSTP, CONT, WINCH) goes to its process group.
func (s *Sandbox) Signal(sig syscall.Signal) error { return s.order(wire.Order{Signal: int(sig)}) }

func (s *Sandbox) order(o wire.Order) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.control < 0 {
		return errors.New("the sandbox has ended")
	}
	if err := wire.Send(s.control, o); err != nil {
		return fmt.Errorf("tell the sandbox's init: %w", err)
	}
	return nil
}

// Kill ends every process of the sandbox at once. It may be called at any time
// and more than once; Wait tells when they are gone.
func (s *Sandbox) Kill() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.control < 0 {
		return nil
	}
	// Shutting the pair down is what a dead launcher would look like; it also
	// ends a sandbox without a PID namespace, whose init then sweeps.
	err := unix.Shutdown(s.control, unix.SHUT_WR)
	if s.ownPIDs {
		err = s.killInit()
	}
	if errors.Is(err, unix.ESRCH) || errors.Is(err, unix.ENOTCONN) {
		return nil
	}
	return err
}

func (s *Sandbox) killInit() error {
	if s.pidfd >= 0 {
		return unix.PidfdSendSignal(s.pidfd, unix.SIGKILL, nil, 0)
	}
	return unix.Kill(s.pid, unix.SIGKILL)
}

// Wait gives the agent's end once nothing of the sandbox is left. An error
// means that the sandbox ended without telling: it was killed, or broke.
func (s *Sandbox) Wait() (Exit, error) {
	<-s.done
	return s.exit, s.err
}

// listen reads what the init process reports until it is gone, then clears up.
func (s *Sandbox) listen(ready chan<- error) {
	answered := false
	answer := func(err error) {
		if !answered {
			answered = true
			ready <- err
		}
	}
	var last *wire.Report // what it said of its end
	for {
		report := new(wire.Report)
		fds, err := wire.Receive(s.control, report)
		if err == nil {
			err = s.adopt(report, fds)
		}
		if err != nil {
			s.bury(err, last)
			answer(NewFailure(StageInit, fmt.Errorf("the init process ended before it was ready: %w", s.err)))
			close(s.done)
			return
		}
		switch {
		case report.Ready != nil:
			s.layers, s.landlockABI = report.Ready.Layers, report.Ready.LandlockABI
			if s.grouped {
				s.layers["limits"] = "on"
			}
			answer(nil)
		case report.Failure != nil:
			answer(reported(report.Failure))
			last = report
		case report.Exit != nil:
			last = report
		}
	}
}

// bury waits for the init process, with which everything in its PID namespace
// ends, and closes what this process holds of the sandbox.
func (s *Sandbox) bury(cause error, last *wire.Report) {
	if !errors.Is(cause, io.EOF) && !errors.Is(cause, unix.ECONNRESET) {
		_ = s.Kill() // it said what cannot be understood
	}
	ws := wait(s.pid)
	closeAll(s.listeners)
	s.mu.Lock()
	unix.Close(s.control)
	s.control = -1
	if s.pidfd >= 0 {
		unix.Close(s.pidfd)
		s.pidfd = -1
	}
	s.mu.Unlock()
	s.exit = Exit{Signal: unix.SIGKILL}
	switch {
	case last != nil && last.Exit != nil:
		s.exit = Exit{Code: last.Exit.Code, Signal: syscall.Signal(last.Exit.Signal)}
	case last != nil:
		s.err = reported(last.Failure)
	case ws.Signaled():
		s.exit.Signal = ws.Signal()
		s.err = fmt.Errorf("the sandbox was ended by signal %d", int(ws.Signal()))
	default:
		s.err = fmt.Errorf("the sandbox's init exited with %d and without telling of the agent", ws.ExitStatus())
	}
}

func wait(pid int) unix.WaitStatus {
	var ws unix.WaitStatus
	for {
		if _, err := unix.Wait4(pid, &ws, 0, nil); !errors.Is(err, unix.EINTR) {
			return ws
		}
	}
}
