// Package ref is the reference bridge: MCP servers stay on the host, the agent
// runs in namespaces of its own, and the only way out is an egress proxy with
// an allowlist. [Run] is one phase: it validates, plans, starts the servers,
// launches the agent, waits, and leaves nothing behind.
//
// Every program that calls Run calls [Main] first: the processes that hold the
// runtime directory, the servers and the agent are this same executable, run
// again under other names.
package ref

import (
	"io"
	"log/slog"
	"os"
	"syscall"

	"bridgecheck/ref/event"
	"bridgecheck/ref/guardian"
	"bridgecheck/ref/mcpserver"
	"bridgecheck/ref/sandbox"
	"bridgecheck/ref/sandbox/external"
)

// Main runs a helper process, and does not return, when the executable was
// started as one. Call it first thing in main and in TestMain.
func Main() {
	sandbox.Main()
	mcpserver.Main()
	guardian.Main()
	external.Witness()
}

// Options are what a phase gets from its caller.
type Options struct {
	// Events receives what happens; nil drops it.
	Events *event.Recorder
	// Log gets what a person should see: one line with the mode, and what goes
	// wrong. nil drops it.
	Log *slog.Logger
	// Stdin, Stdout and Stderr are handed to the agent as they are; nil is
	// /dev/null.
	Stdin, Stdout, Stderr *os.File
	// Control carries commands in and replies out, as JSON lines; its end ends
	// the phase. The caller closes it after Run, which also ends the goroutine
	// that reads it. nil: no commands.
	Control io.ReadWriter
	// Launcher makes the sandbox in the place of this program's own; nil is none.
	Launcher *external.Launcher
	// DryRun decides and tells the mode, and starts nothing.
	DryRun bool
}

// Exit tells how a phase ended: by code, or by signal when Signal is not 0.
type Exit struct {
	Code   int
	Signal syscall.Signal
	Reason string // agent, quit, signal, timeout, out-of-memory, failure
}

// Exit codes that are not the agent's own.
const (
	CodeTimeout = 124 // the phase ran out of time
	CodeFailure = 125 // the bridge itself
)

// Reasons of an Exit.
const (
	ReasonAgent   = "agent"         // the agent ended
	ReasonQuit    = "quit"          // told so on the control stream
	ReasonSignal  = "signal"        // the context was cancelled
	ReasonTimeout = "timeout"       // timeouts.phase_ms
	ReasonMemory  = "out-of-memory" // the kernel ended the agent, which had used up limits.memory
	ReasonFailure = "failure"       // the bridge could not go on
)

// Status is the exit status of a program that stands for the phase: the code,
// or 128 and the signal's number.
func (e Exit) Status() int {
	if e.Signal != 0 {
		return 128 + int(e.Signal)
	}
	return e.Code
}

// Refuse tells of a configuration that could not even be read into a
// specification, in the events that [Run] would have written.
func Refuse(opt Options, err error) {
	p := &phase{opt: opt}
	p.tell(err)
	if !opt.DryRun {
		opt.Events.Emit(Exit{Code: CodeFailure, Reason: ReasonFailure}.event())
	}
}
