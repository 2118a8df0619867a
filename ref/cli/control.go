package cli

import (
	"errors"
	"fmt"
	"os"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// control is the stream of commands, replies and events.
type control struct{ *sink }

// openControl takes the descriptor over; a negative one means none.
func openControl(fd int) (*control, error) {
	if fd < 0 {
		return nil, nil
	}
	if fd < 3 {
		return nil, fmt.Errorf("control: descriptor %d is a standard stream; use one from 3 on", fd)
	}
	if _, err := unix.FcntlInt(uintptr(fd), unix.F_GETFD, 0); err != nil {
		return nil, fmt.Errorf("control: descriptor %d: %w; open it in the caller", fd, err)
	}
	// Only a descriptor that does not block can be closed under a reader, and
	// given up under a writer.
	if err := unix.SetNonblock(fd, true); err != nil {
		return nil, fmt.Errorf("control: descriptor %d: %w", fd, err)
	}
	return &control{&sink{file: os.NewFile(uintptr(fd), "control")}}, nil
}

func (c *control) Read(p []byte) (int, error) { return c.file.Read(p) }

// Write says nothing of a reader that has gone, and ends the stream for the
// commands as well: that ends the phase, as it was told to.
func (c *control) Write(line []byte) (int, error) {
	n, err := c.sink.Write(line)
	if errors.Is(err, syscall.EPIPE) || errors.Is(err, syscall.ECONNRESET) {
		_ = c.file.SetReadDeadline(time.Unix(0, 1)) // it fails on a closed file, whose reader has ended
		return len(line), nil
	}
	return n, err
}

func (c *control) Close() error { return c.file.Close() }
