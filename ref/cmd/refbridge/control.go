package main

import (
	"fmt"
	"os"
	"sync"

	"golang.org/x/sys/unix"
)

// control is the stream of commands, replies and events. Replies and events
// come from many goroutines: a line is one write under one lock.
type control struct {
	mu   sync.Mutex
	file *os.File
}

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
	// Only a descriptor that does not block can be closed under a reader.
	if err := unix.SetNonblock(fd, true); err != nil {
		return nil, fmt.Errorf("control: descriptor %d: %w", fd, err)
	}
	return &control{file: os.NewFile(uintptr(fd), "control")}, nil
}

func (c *control) Read(p []byte) (int, error) { return c.file.Read(p) }

func (c *control) Write(p []byte) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.file.Write(p)
}

func (c *control) Close() error { return c.file.Close() }
