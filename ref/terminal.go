package ref

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"bridgecheck/ref/guardian"
	"bridgecheck/ref/sandbox"
)

// AtTerminal tells whether a person works with f: it is a terminal, and this
// process is in its foreground. One in the background must not touch it.
func AtTerminal(f *os.File) bool {
	if f == nil {
		return false
	}
	foreground, err := unix.IoctlGetInt(int(f.Fd()), unix.TIOCGPGRP)
	return err == nil && foreground == unix.Getpgrp()
}

func isTerminal(f *os.File) bool {
	_, err := unix.IoctlGetTermios(int(f.Fd()), unix.TCGETS)
	return err == nil
}

// giveTerminal asks for a terminal of the agent's own. With a person at stdin it
// takes the place of each stream that is the person's terminal; other streams
// stay what they are.
func (p *phase) giveTerminal(s *sandbox.Spec) error {
	s.TTY = true
	person := AtTerminal(p.opt.Stdin)
	for _, stream := range []**os.File{&s.Stdin, &s.Stdout, &s.Stderr} {
		switch {
		case *stream == nil: // to the sandbox, that would be the terminal
			null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
			if err != nil {
				return fmt.Errorf("give the agent a terminal: %w", err)
			}
			p.later(null.Close)
			*stream = null
		case person && isTerminal(*stream):
			*stream = nil
		}
	}
	return nil
}

// attach connects the agent's terminal with the person's until close. Without a
// person nobody types, and what is said there is dropped.
func (p *phase) attach() error {
	inner := p.box.Terminal()
	if inner == nil {
		return nil
	}
	if !AtTerminal(p.opt.Stdin) {
		var reader sync.WaitGroup
		reader.Go(func() { _, _ = io.Copy(io.Discard, inner) })
		p.later(func() error {
			defer reader.Wait()
			return inner.Close()
		})
		return nil
	}
	s := &seat{box: p.box, inner: inner, keys: p.opt.Stdin, screen: p.screen()}
	if err := s.open(); err != nil {
		return err
	}
	p.later(s.close)
	return nil
}

// screen is where a person sees what the terminal says: stdin is usually open
// for writing as well, and is it if the others are no terminals.
func (p *phase) screen() *os.File {
	for _, f := range []*os.File{p.opt.Stdout, p.opt.Stderr} {
		if f != nil && isTerminal(f) {
			return f
		}
	}
	return p.opt.Stdin
}

// seat is a person's place at the agent's terminal.
type seat struct {
	box          box
	inner        *os.File
	keys, screen *os.File

	mode    *guardian.Terminal
	leave   *os.File // its closing ends typed
	resized chan os.Signal
	written chan struct{} // closed when all that the agent said is written
	readers sync.WaitGroup
}

// open takes the place: the agent's terminal gets the settings and the size of
// the person's, which passes on every key from then on.
func (s *seat) open() error {
	stay, leave, err := os.Pipe()
	if err != nil {
		return fmt.Errorf("watch the terminal: %w", err)
	}
	s.leave, s.resized, s.written = leave, make(chan os.Signal, 1), make(chan struct{})
	s.copySettings()
	if s.mode, err = guardian.Raw(s.keys); err != nil {
		return errors.Join(err, stay.Close(), leave.Close())
	}
	signal.Notify(s.resized, syscall.SIGWINCH)
	s.resize()
	s.readers.Go(func() {
		for range s.resized {
			s.resize()
		}
	})
	s.readers.Go(func() {
		defer stay.Close()
		s.typed(stay)
	})
	go func() {
		defer close(s.written)
		_, _ = io.Copy(s.screen, s.inner) // ends with EIO when the agent has ended
		_, _ = io.Copy(s.screen, s.inner) // and once more: see [sandbox.Sandbox.Terminal]
	}()
	return nil
}

// heldUp is how long a terminal may be held up that gets an agent's last words.
const heldUp = time.Second

// close ends the agent, if it has not ended, and gives the terminal back.
func (s *seat) close() error {
	signal.Stop(s.resized)
	close(s.resized)
	_ = s.leave.Close()
	_ = s.box.Kill()
	_, _ = s.box.Wait()
	select {
	case <-s.written:
	case <-time.After(heldUp):
	}
	err := s.inner.Close()
	s.readers.Wait()
	return errors.Join(err, s.mode.Close())
}

// typed passes on what is typed until the other end of stay is closed. The
// terminal is read only when something is there: it is not to be read from once
// the agent has ended, and cannot be made non-blocking, as others have it too.
func (s *seat) typed(stay *os.File) {
	fds := []unix.PollFd{{Fd: int32(s.keys.Fd()), Events: unix.POLLIN}, {Fd: int32(stay.Fd())}}
	buf := make([]byte, 4096)
	for {
		if _, err := unix.Poll(fds, -1); errors.Is(err, unix.EINTR) {
			continue
		} else if err != nil || fds[1].Revents != 0 {
			return
		}
		n, err := s.keys.Read(buf)
		if err != nil {
			return // it has gone, and SIGHUP says so
		}
		if _, err := s.inner.Write(buf[:n]); err != nil {
			return // the agent has ended
		}
	}
}

// resize gives the agent's terminal the size of the person's. One that tells no
// size leaves it as it is.
func (s *seat) resize() {
	if size, err := unix.IoctlGetWinsize(int(s.screen.Fd()), unix.TIOCGWINSZ); err == nil {
		_ = s.box.Resize(size.Row, size.Col) // the agent may have ended
	}
}

// copySettings gives the agent's terminal the keys of the person's (which one
// erases, which one interrupts), as ssh does. They are a convenience.
func (s *seat) copySettings() {
	mode, err := unix.IoctlGetTermios(int(s.keys.Fd()), unix.TCGETS)
	if err != nil {
		return
	}
	if conn, err := s.inner.SyscallConn(); err == nil {
		_ = conn.Control(func(fd uintptr) { _ = unix.IoctlSetTermios(int(fd), unix.TCSETS, mode) })
	}
}
