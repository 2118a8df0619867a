package sandbox

import (
	"errors"
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// Terminal is the master of the sandbox's terminal, nil without Spec.TTY. What
// is written to it the agent reads as typed. It is the caller's to close, and
// reads EIO once the agent has ended and what it wrote is read. The first EIO may
// come before that: a reader whom the kernel has told that there is nothing, and
// who then sees the other end closed, is not told what was written between. The
// second is the end.
func (s *Sandbox) Terminal() *os.File { return s.terminal }

// Resize sets the terminal's size in characters; the agent gets SIGWINCH.
func (s *Sandbox) Resize(rows, columns uint16) error {
	if s.terminal == nil {
		return errors.New("resize: the sandbox has no terminal of its own: ask for one with TTY")
	}
	// Not by Fd, which would make reads block for good.
	conn, err := s.terminal.SyscallConn()
	if err != nil {
		return fmt.Errorf("resize the terminal: %w", err)
	}
	var failure error
	err = conn.Control(func(fd uintptr) {
		failure = unix.IoctlSetWinsize(int(fd), unix.TIOCSWINSZ, &unix.Winsize{Row: rows, Col: columns})
	})
	if err := errors.Join(err, failure); err != nil {
		return fmt.Errorf("resize the terminal: %w", err)
	}
	return nil
}

// adoptTerminal takes over the master that the init process handed over.
func (s *Sandbox) adoptTerminal(fds []int) error {
	if len(fds) != 1 || s.terminal != nil {
		for _, fd := range fds {
			unix.Close(fd)
		}
		return fmt.Errorf("the init process sent %d terminals", len(fds))
	}
	if err := unix.SetNonblock(fds[0], true); err != nil { // a read must end with Close
		return errors.Join(fmt.Errorf("adopt the terminal: %w", err), unix.Close(fds[0]))
	}
	s.terminal = os.NewFile(uintptr(fds[0]), "terminal")
	return nil
}
