// Package probe stands in for an agent inside the sandbox. It reads one order
// and then attempts, a JSON line each, makes them one after the other and
// reports facts; see bridgecheck/fakes/attempt for the wire. Listeners,
// connections and processes live on from one attempt to the next.
//
// Run by hand on a machine it does no harm: whatever dials, listens, changes or
// signals is refused in the network namespace that the order calls the host's,
// and where the own namespace cannot be told.
package probe

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"

	"bridgecheck/fakes/attempt"
)

// defaultTimeout caps an attempt that names no cap of its own.
const defaultTimeout = 10 * time.Second

// exitBadOrder is the code for a first line that is no order.
const exitBadOrder = 2

// Probe is one run of the loop. Its zero value is not usable: see [Run].
type Probe struct {
	order    attempt.Order
	in       *bufio.Reader
	out, err io.Writer
	kept     map[string]io.Closer
	// exit is set by the exit op and ends the loop after its observation.
	exit *ending
}

// Run reads attempts from in until it ends (code 0) or an exit attempt says
// otherwise, and returns the exit code of the process. Raw bytes of the write
// op go to out and errOut.
func Run(in io.Reader, out, errOut io.Writer) int {
	p := &Probe{
		in:   bufio.NewReaderSize(in, 64<<10),
		out:  out,
		err:  errOut,
		kept: map[string]io.Closer{},
	}
	defer p.closeAll()
	line, err := p.in.ReadBytes('\n')
	if err != nil && len(line) == 0 {
		return 0
	}
	if err := json.Unmarshal(line, &p.order); err != nil || p.order.Nonce == "" {
		p.report(attempt.Observation{Refused: "the first line is not an order with a nonce"})
		return exitBadOrder
	}
	for {
		line, err := p.in.ReadBytes('\n')
		if len(line) > 1 {
			p.report(p.answer(line))
		}
		if p.exit != nil {
			return p.exit.now()
		}
		if err != nil {
			return 0
		}
	}
}

// answer makes the attempt that the line asks for.
func (p *Probe) answer(line []byte) attempt.Observation {
	var a attempt.Attempt
	if err := json.Unmarshal(line, &a); err != nil {
		return refused("the line is not an attempt: %v", err)
	}
	observation := p.try(a)
	observation.ID = a.ID
	return observation
}

// try finds the op, applies the guard and makes the attempt.
func (p *Probe) try(a attempt.Attempt) attempt.Observation {
	run, found := ops[a.Op]
	if !found {
		return refused("unknown op %q", a.Op)
	}
	if !harmless(a) {
		if reason := hostGuard(p.order); reason != "" {
			return refused("%s: %s", a.Op, reason)
		}
	}
	timeout := defaultTimeout
	if a.TimeoutMS > 0 {
		timeout = time.Duration(a.TimeoutMS) * time.Millisecond
	}
	ctx, cancel := context.WithTimeout(context.Background(), timeout)
	defer cancel()
	return run(p, ctx, a)
}

// report writes one observation as a line.
func (p *Probe) report(o attempt.Observation) {
	o.Nonce = p.order.Nonce
	line, err := json.Marshal(o)
	if err != nil {
		line, _ = json.Marshal(attempt.Observation{ID: o.ID, Nonce: o.Nonce, Refused: "encode: " + err.Error()})
	}
	_, _ = p.out.Write(append(line, '\n')) // a harness that went away cannot be told
}

// keep holds a connection, listener or group under a name until it is closed.
func (p *Probe) keep(name string, c io.Closer) {
	if old, found := p.kept[name]; found {
		_ = old.Close()
	}
	p.kept[name] = c
}

func (p *Probe) closeAll() {
	for _, c := range p.kept {
		_ = c.Close()
	}
}

// refused is the observation of an attempt that was not made.
func refused(format string, args ...any) attempt.Observation {
	return attempt.Observation{Refused: fmt.Sprintf(format, args...)}
}

// failed is the observation of an attempt that ended in err; nil is success.
func failed(err error) attempt.Observation {
	var o attempt.Observation
	note(&o, err)
	return o
}

// note puts err into the observation; what is there already stays.
func note(o *attempt.Observation, err error) {
	if err == nil || o.Errno != "" {
		return
	}
	if no, found := errors.AsType[*noAttempt](err); found {
		o.Refused = no.reason
		return
	}
	o.Errno, o.Error = errnoOf(err), err.Error()
}

// noAttempt is an error of the harness, such as a missing field.
type noAttempt struct{ reason string }

func (e *noAttempt) Error() string { return e.reason }
