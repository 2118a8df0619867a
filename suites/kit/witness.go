package kit

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"bridgecheck/fakes/attempt"
	"bridgecheck/fakes/trace"
	"bridgecheck/suites/catalog"
)

// made is an attempt and who made it.
type made struct {
	agent   *Agent
	attempt attempt.Attempt
}

// repeatable are the ops that come out the same a second time and leave nothing.
var repeatable = []string{
	attempt.OpDial, attempt.OpHTTP, attempt.OpResolve, attempt.OpSocket, attempt.OpCall, attempt.OpSetLink,
	attempt.OpReadFile, attempt.OpOpen, attempt.OpListDir, attempt.OpPtrace, attempt.OpRun, attempt.OpFacts,
}

const (
	witnessBound = 15 * time.Second
	// longestTrace bounds the lines of one repetition.
	longestTrace = 4000
)

// witness adds to the evidence what the kernel itself has to say when a check of
// security fails: the last attempt inside is made again, watched from outside by
// ptrace(2), which no filter of the subject's keeps from the harness; and the
// state of the agent's process, as /proc tells it outside. What cannot be done
// is said in its place.
func (t *T) witness() {
	if t.last == nil || t.check.Case.Level != catalog.Security {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), witnessBound)
	defer cancel()
	pid, err := t.last.agent.outside(ctx)
	if err != nil {
		t.Keep("trace.txt", []byte("the agent was not watched: "+err.Error()+"\n"))
		return
	}
	t.Keep("process.txt", processState(pid))
	t.Keep("trace.txt", t.repeat(ctx, pid))
}

// repeat makes the last attempt again and gives what was seen of it.
func (t *T) repeat(ctx context.Context, pid int) []byte {
	var b bytes.Buffer
	a, att := t.last.agent, t.last.attempt
	att.Conn = "" // a name that is in use
	asked, err := json.Marshal(att)
	if err != nil {
		fmt.Fprintf(&b, "the attempt cannot be written: %v\n", err)
		return b.Bytes()
	}
	fmt.Fprintf(&b, "attempt  %s\n", asked)
	if !slices.Contains(repeatable, att.Op) {
		fmt.Fprintf(&b, "It was not made again: %s leaves something behind.\n", att.Op)
		return b.Bytes()
	}
	calls, obs, err := a.watched(ctx, pid, att)
	if err != nil {
		fmt.Fprintf(&b, "It was not made again: nobody can watch process %d (%v).\n", pid, err)
		return b.Bytes()
	}
	fmt.Fprintf(&b, "answer   %s, made again with process %d watched from outside by ptrace(2)\n\n", describeObservation(obs), pid)
	for i, call := range calls {
		if i == longestTrace {
			fmt.Fprintf(&b, "… and %d more\n", len(calls)-i)
			break
		}
		fmt.Fprintln(&b, call)
	}
	return b.Bytes()
}

// watched makes an attempt while another process watches the agent's, which is
// not done from here: it would take the ends of this program's own children.
func (a *Agent) watched(ctx context.Context, pid int, att attempt.Attempt) ([]string, attempt.Observation, error) {
	var none attempt.Observation
	cmd := exec.CommandContext(ctx, a.t.run.cfg.Probe, trace.Flag, strconv.Itoa(pid))
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	said := &tail{}
	cmd.Stderr, cmd.WaitDelay = said, time.Second
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, none, err
	}
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		return nil, none, err
	}
	lines := bufio.NewScanner(out)
	if !lines.Scan() || lines.Text() != trace.Begun {
		in.Close()
		_ = cmd.Wait() // what it said is the reason
		return nil, none, errors.New(strings.TrimSpace(said.String()))
	}
	seen := make(chan []string, 1)
	go func() {
		var calls []string
		for lines.Scan() {
			calls = append(calls, lines.Text())
		}
		seen <- calls
	}()
	obs, err := a.try(ctx, att)
	in.Close()
	calls := <-seen
	_ = cmd.Wait() // it was told to end
	return calls, obs, err
}
