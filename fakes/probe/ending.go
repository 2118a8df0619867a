package probe

import (
	"context"
	"os/signal"
	"syscall"

	"bridgecheck/fakes/attempt"
	"bridgecheck/fakes/process"
)

// ending is how the process is to end.
type ending struct {
	code   int
	signal syscall.Signal
}

// leave ends the loop after its own observation has been written: with Code, or
// of the signal that Call names (SIGKILL) or numbers (9).
func (p *Probe) leave(_ context.Context, a attempt.Attempt) attempt.Observation {
	e := ending{code: a.Code}
	if a.Call != "" {
		signal, err := process.Signal(a.Call)
		if err != nil {
			return refused("%v", err)
		}
		e.signal = signal
	}
	p.exit = &e
	return attempt.Observation{}
}

// ignore makes the probe deaf to a signal, for checks of who insists.
func (p *Probe) ignore(_ context.Context, a attempt.Attempt) attempt.Observation {
	number, err := process.Signal(a.Call)
	if err != nil {
		return refused("%v", err)
	}
	signal.Ignore(number)
	return attempt.Observation{}
}

// now returns the exit code, or dies of the signal.
func (e *ending) now() int {
	if e.signal != 0 {
		process.Die(e.signal)
	}
	return e.code
}
