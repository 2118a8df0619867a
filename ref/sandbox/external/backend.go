package external

import (
	"context"
	"os"
	"syscall"
)

// Backend launches agents in the helper process.
type Backend interface {
	About() About
	// Launch starts the agent, which ends with the context. The error is a
	// *Refused or a *Failed; any other means that the backend is broken.
	Launch(ctx context.Context, l Launch, stdin, stdout, stderr *os.File) (Process, error)
}

// Process is a launched agent.
type Process interface {
	PID() int
	Signal(sig syscall.Signal) error
	// Kill ends all that belongs to the agent; it may be called at any time.
	Kill() error
	// Wait returns when nothing is left: no process, socket or directory. The error
	// is a *Failed where the launch turns out to have failed.
	Wait() (Exited, error)
}
