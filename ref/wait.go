package ref

import (
	"context"
	"errors"
	"fmt"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"bridgecheck/ref/config"
	"bridgecheck/ref/event"
	"bridgecheck/ref/mcpserver"
	"bridgecheck/ref/plan"
	"bridgecheck/ref/sandbox"
	"bridgecheck/ref/sandbox/external"
)

// agentGrace is what an agent gets between SIGTERM and SIGKILL.
const agentGrace = 3 * time.Second

// wait returns when the agent has ended, or the phase was told to end.
func (p *phase) wait(ctx context.Context) (Exit, error) {
	ended := make(chan struct{})
	var exit sandbox.Exit
	var err error
	if p.box != nil {
		go func() { exit, err = p.box.Wait(); close(ended) }()
	}
	reason := ReasonAgent
	select {
	case <-ended:
	case <-p.quit:
		reason = ReasonQuit
	case <-ctx.Done():
		reason = reasonOf(ctx)
	}
	if p.box != nil {
		killed := reason != ReasonAgent && p.stopAgent(ended)
		<-ended
		if killed {
			exit, err = sandbox.Exit{Signal: syscall.SIGKILL}, nil
		}
	}
	switch reason {
	case ReasonTimeout:
		return Exit{Code: CodeTimeout, Reason: reason}, errors.Join(errTimeout, err)
	case ReasonFailure:
		return Exit{Code: CodeFailure, Reason: reason}, errors.Join(context.Cause(ctx), err)
	}
	if reason == ReasonAgent && p.outOfMemory(exit) {
		reason = ReasonMemory
	}
	if err != nil && p.opt.Launcher != nil { // then nothing is known of the agent
		return Exit{Code: CodeFailure, Reason: ReasonFailure}, err
	}
	return Exit{Code: exit.Code, Signal: exit.Signal, Reason: reason}, err
}

// stopAgent ends the agent and reports whether it took a SIGKILL.
func (p *phase) stopAgent(ended <-chan struct{}) (killed bool) {
	// An agent that ended a moment ago cannot be told, and need not be.
	_ = p.box.Signal(syscall.SIGTERM)
	grace := time.NewTimer(agentGrace)
	defer grace.Stop()
	select {
	case <-ended:
		return false
	case <-grace.C:
		_ = p.box.Kill()
		return true
	}
}

func reasonOf(ctx context.Context) string {
	switch cause := context.Cause(ctx); {
	case errors.Is(cause, errTimeout):
		return ReasonTimeout
	case errors.Is(cause, errBlind):
		return ReasonFailure
	}
	return ReasonSignal
}

// failed turns an error before or behind the agent into the exit of the phase.
func (p *phase) failed(ctx context.Context, exit Exit, err error) (Exit, error) {
	switch {
	case exit.Reason != "": // the agent ran: its end is the truth all the same
		p.tell(err)
		return exit, err
	case ctx.Err() == nil || reasonOf(ctx) == ReasonFailure:
		p.tell(err)
		return Exit{Code: CodeFailure, Reason: ReasonFailure}, err
	case reasonOf(ctx) == ReasonTimeout:
		p.tell(errTimeout)
		return Exit{Code: CodeTimeout, Reason: ReasonTimeout}, errTimeout
	}
	exit = Exit{Signal: syscall.SIGTERM, Reason: ReasonSignal}
	if by, ok := errors.AsType[*SignalError](context.Cause(ctx)); ok {
		exit.Signal = by.Signal
	}
	return exit, context.Cause(ctx)
}

// tell writes what err holds as events, one for each cause that was joined.
func (p *phase) tell(err error) {
	if joined, ok := err.(interface{ Unwrap() []error }); ok {
		for _, err := range joined.Unwrap() {
			p.tell(err)
		}
		return
	}
	if lacking, ok := errors.AsType[*Unsupported](err); ok {
		for _, field := range lacking.Fields {
			p.opt.Events.Emit(field)
		}
		return
	}
	p.opt.Events.Emit(errorEvent(err))
}

func errorEvent(err error) event.Error {
	e := event.Error{Stage: "bridge", Reason: err.Error(), Errno: errnoName(err)}
	var (
		invalid *config.Error
		refusal *plan.Refusal
		failure *sandbox.Failure
		start   *mcpserver.StartError
		helper  *external.HelperError
	)
	switch {
	case errors.As(err, &invalid):
		e.Stage, e.Causes, e.Server = "config", invalid.Lines(), invalid.Server()
		e.Reason = fmt.Sprintf("the configuration has %d problems", len(e.Causes))
		if len(e.Causes) == 1 {
			e.Reason = e.Causes[0]
		}
	case errors.As(err, &refusal):
		e.Stage, e.Errno, e.Causes = "plan", refusal.Errno, refusal.Causes
		e.Reason = refusal.Reason
		if refusal.Fix != "" {
			e.Reason += "; " + refusal.Fix
		}
		if refusal.Stage != "" {
			e.Stage = refusal.Stage
		}
	case errors.As(err, &failure):
		e.Stage, e.Causes = failure.Stage, failure.Causes
	case errors.As(err, &start):
		bare := *start
		bare.StderrTail = "" // it has a key of its own
		e.Stage, e.Server, e.StderrTail, e.Reason = "server-start", start.Server, start.StderrTail, bare.Error()
	case errors.As(err, &helper):
		e.Stage = plan.StageLauncher
	case errors.Is(err, errTimeout):
		e.Stage = "timeout"
	}
	return e
}

func errnoName(err error) string {
	var errno syscall.Errno
	if errors.As(err, &errno) && errno != 0 {
		return unix.ErrnoName(errno)
	}
	return ""
}

func signalName(s syscall.Signal) string { return unix.SignalName(s) }

// event is the last event of a phase.
func (e Exit) event() event.Exit {
	if e.Signal != 0 {
		return event.Exit{Signal: signalName(e.Signal), Reason: e.Reason}
	}
	code := e.Code
	return event.Exit{Code: &code, Reason: e.Reason}
}
