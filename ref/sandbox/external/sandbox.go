package external

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"sync"
	"syscall"

	"golang.org/x/sys/unix"

	"bridgecheck/ref/sandbox"
)

// Sandbox is one agent, from Launch to its end. Its methods are those of the
// native sandbox.
type Sandbox struct {
	layers    map[string]string
	listeners []sandbox.Listener
	launch    Launch
	helper    *helper // nil where the program cannot be executed
	unrun     int     // a shell's exit code for such a program

	mu    sync.Mutex
	begun bool // started, or killed before

	done chan struct{} // closed when nothing is left; exit and err are set then
	exit sandbox.Exit
	err  error
}

// ready starts the helper of the agent; nothing of the agent runs.
func (l *Launcher) ready(ctx context.Context, s Spec, launch Launch, layers map[string]string) (*Sandbox, error) {
	box := &Sandbox{layers: layers, launch: launch, done: make(chan struct{})}
	if box.unrun = unrunnable(launch.Path); box.unrun == 0 {
		var err error
		if box.helper, err = startHelper(ctx, l.Command(), s.Dir, s.Stdin, s.Stdout, s.Stderr); err != nil {
			return nil, err
		}
	}
	if len(s.Ports) == 0 || l.Hosts {
		return box, nil
	}
	listener, err := listen(filepath.Join(s.Dir, "proxy"))
	if err != nil {
		_ = box.Kill()
		_, _ = box.Wait()
		return nil, err
	}
	box.launch.ProxySocket = listener.Addr().String()
	box.listeners = []sandbox.Listener{{Listener: listener, Asked: ProxyPort, Port: ProxyPort}}
	return box, nil
}

// unrunnable gives the exit code of a shell that cannot execute the program, 0
// for one that can. A launcher has no such code.
func unrunnable(path string) int {
	const notExecutable, notFound = 126, 127
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, os.ErrNotExist), !filepath.IsAbs(path):
		return notFound
	case err != nil, !info.Mode().IsRegular(), unix.Access(path, unix.X_OK) != nil:
		return notExecutable
	}
	return 0
}

// Layers tell what was in force in the rehearsal: on, or missing.
func (s *Sandbox) Layers() map[string]string { return s.layers }

// LandlockABI is not known.
func (s *Sandbox) LandlockABI() int { return 0 }

// Listeners are the socket that the sandbox's port leads to, to be accepted on by
// this process. It is closed when the agent has ended.
func (s *Sandbox) Listeners() []sandbox.Listener { return s.listeners }

// Terminal is nil.
func (s *Sandbox) Terminal() *os.File { return nil }

// Resize is an error.
func (s *Sandbox) Resize(uint16, uint16) error {
	return errors.New("resize: the sandbox has no terminal of its own")
}

// Start lets the agent be launched. Wait tells when that fails.
func (s *Sandbox) Start() error {
	if !s.begin() {
		return errors.New("the sandbox has ended, or was started before")
	}
	if s.helper == nil {
		s.end(sandbox.Exit{Code: s.unrun}, nil)
		return nil
	}
	err := s.helper.order(order{Launch: &s.launch})
	go s.listen()
	return err
}

// begin reports whether this is the first time.
func (s *Sandbox) begin() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	first := !s.begun
	s.begun = true
	return first
}

// Signal sends a signal to the agent.
func (s *Sandbox) Signal(sig syscall.Signal) error {
	if s.helper == nil {
		return os.ErrProcessDone
	}
	return s.helper.order(order{Signal: int(sig)})
}

// Kill ends every process of the sandbox. It may be called at any time and more
// than once; Wait tells when they are gone.
func (s *Sandbox) Kill() error {
	first := s.begin()
	if s.helper != nil && !first {
		s.helper.kill()
	}
	if first {
		if s.helper != nil {
			s.helper.end()
		}
		s.end(sandbox.Exit{Signal: unix.SIGKILL}, errors.New("the sandbox was ended before its agent was started"))
	}
	return nil
}

// Wait gives the agent's end once nothing of the sandbox is left. The error is a
// launch that failed after all, as in Launch, or a *HelperError.
func (s *Sandbox) Wait() (sandbox.Exit, error) {
	<-s.done
	return s.exit, s.err
}

// listen reads what the helper reports until it has ended.
func (s *Sandbox) listen() {
	began := false
	for {
		r, err := s.helper.next(context.Background())
		switch {
		case err != nil:
			s.end(sandbox.Exit{}, &HelperError{fmt.Errorf("%w (%s)", err, s.helper.end())})
		case r.Started != nil && !began:
			began = true
			continue
		case r.Exited != nil && began:
			s.helper.end()
			s.end(sandbox.Exit{Code: r.Exited.Code, Signal: syscall.Signal(r.Exited.Signal)}, nil)
		case r.Failed != nil, r.Refused != nil && !began:
			s.helper.end()
			s.end(sandbox.Exit{}, r.error())
		default:
			s.end(sandbox.Exit{}, &HelperError{fmt.Errorf("it said what makes no sense here (%s)", s.helper.end())})
		}
		return
	}
}

func (s *Sandbox) end(exit sandbox.Exit, err error) {
	for _, l := range s.listeners {
		_ = l.Close() // its user may have closed it
	}
	s.exit, s.err = exit, err
	close(s.done)
}

// listen makes a socket that the sandbox's port leads to.
func listen(path string) (*net.UnixListener, error) {
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: path, Net: "unix"})
	if err == nil {
		err = os.Chmod(path, 0o600)
	}
	if err != nil {
		return nil, fmt.Errorf("open the socket for the proxy: %w; a shorter paths.runtime or TMPDIR may be the fix", err)
	}
	return l, nil
}
