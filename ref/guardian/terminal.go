package guardian

import (
	"fmt"
	"io"
	"os"

	"golang.org/x/sys/unix"
)

// Terminal is a terminal of a person's in raw mode, as another one is worked
// with through it. Its mode is given back however the caller ends: a killed
// process could not, and would leave a shell that shows nothing of what is typed.
type Terminal struct{ *helper }

// Raw puts the terminal into raw mode, termios(3): every key is passed on, also
// Ctrl-C, and nothing is echoed.
func Raw(terminal *os.File) (*Terminal, error) {
	h, err := start(taskTerminal, "", terminal)
	if err != nil {
		return nil, fmt.Errorf("terminal: %w", err)
	}
	return &Terminal{h}, nil
}

// Close gives the terminal its mode back and waits until it has it.
func (t *Terminal) Close() error {
	if err := t.end(); err != nil {
		return fmt.Errorf("give the terminal its mode back: %w; type reset", err)
	}
	return nil
}

// guardTerminal is the guardian; the terminal is its standard input.
func guardTerminal(lifeline io.Reader, answer io.WriteCloser) int {
	const terminal = 0
	before, err := unix.IoctlGetTermios(terminal, unix.TCGETS)
	if err == nil {
		err = unix.IoctlSetTermios(terminal, unix.TCSETS, raw(*before))
	}
	if !reply(answer, "", err) {
		return 1
	}
	_, _ = io.Copy(io.Discard, lifeline)
	if unix.IoctlSetTermios(terminal, unix.TCSETS, before) != nil {
		return 1 // it has gone, with whoever sat at it
	}
	return 0
}

// raw is cfmakeraw(3).
func raw(mode unix.Termios) *unix.Termios {
	mode.Iflag &^= unix.IGNBRK | unix.BRKINT | unix.PARMRK | unix.ISTRIP | unix.INLCR | unix.IGNCR | unix.ICRNL | unix.IXON
	mode.Oflag &^= unix.OPOST
	mode.Lflag &^= unix.ECHO | unix.ECHONL | unix.ICANON | unix.ISIG | unix.IEXTEN
	mode.Cflag = mode.Cflag&^(unix.CSIZE|unix.PARENB) | unix.CS8
	mode.Cc[unix.VMIN], mode.Cc[unix.VTIME] = 1, 0
	return &mode
}
