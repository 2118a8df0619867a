// Package mcpserver starts MCP servers on the host and serves each on a Unix
// socket, so that a sandboxed agent can reach them without a network.
//
// A server that speaks stdio runs as a tree of processes that can be ended
// whole (package contain) behind an adapter (package adapter): one process for
// each session of a client, and one more for all stateless requests. A server
// that speaks HTTP itself is not started; requests are passed on to it.
package mcpserver

import (
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"time"

	"bridgecheck/ref/event"
	"bridgecheck/ref/mcpserver/contain"
)

// Main runs the intermediate process of a server's tree and does not return
// when the executable was started for that. Programs and TestMain call it first.
func Main() { contain.Main() }

var (
	// ErrRunning means that a server of that name is starting, running or stopping.
	ErrRunning = errors.New("server is running already")
	// ErrUnknown means that no server of that name was ever started.
	ErrUnknown = errors.New("server is unknown")
	// ErrNotRunning means that the server has been stopped.
	ErrNotRunning = errors.New("server is not running")
	// ErrHung means that a server did not answer in time.
	ErrHung = errors.New("server does not answer")
	// ErrDead means that a server has ended without being asked to.
	ErrDead = errors.New("server has ended")
	// ErrStopped means that Stop came while the server was starting.
	ErrStopped = errors.New("server was stopped while it started")
)

// StartError tells why a server did not start.
type StartError struct {
	Server  string
	Command string // as it was configured, without arguments
	Cause   error
	// Exit tells how the server ended, "code 3"; empty when it did not end by itself.
	Exit string
	// StderrTail is the last lines the server wrote to stderr.
	StderrTail string
}

// Error is one line for the cause and one for each line of stderr.
func (e *StartError) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "start server %q (%s): %v", e.Server, e.Command, e.Cause)
	if e.Exit != "" {
		fmt.Fprintf(&b, ", %s", e.Exit)
	}
	if e.StderrTail != "" {
		b.WriteString("; its last stderr lines:\n  " + strings.ReplaceAll(e.StderrTail, "\n", "\n  "))
	}
	return b.String()
}

func (e *StartError) Unwrap() error { return e.Cause }

// Options configure a [ServerManager].
type Options struct {
	// Dir holds the sockets. It must exist, be a directory of the caller's own
	// and have mode 0700; a symbolic link is refused.
	Dir string
	// Events gets what happens to the servers; nil drops it.
	Events *event.Recorder
	// HealthEvery is the pause between the health checks that the manager makes
	// by itself, and how long each may take; 0 is [DefaultHealthEvery], less is
	// never. They find a server that hangs; nothing is restarted.
	HealthEvery time.Duration
	Log         *slog.Logger
}

// DefaultHealthEvery is long enough for a server that answers nothing while a
// tool of its runs.
const DefaultHealthEvery = 30 * time.Second
