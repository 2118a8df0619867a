package probe

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"bridgecheck/fakes/attempt"
	"bridgecheck/fakes/process"
)

// maxSpawn bounds Count.
const maxSpawn = 10_000

// spawn starts Count processes of the kind Args[0] that sleep for ever; Args[1],
// when given, is put into their arguments as a mark. Value is the last pid,
// Names are all of them. hold-pipe keeps the probe's own stdio.
func (p *Probe) spawn(_ context.Context, a attempt.Attempt) attempt.Observation {
	if len(a.Args) == 0 || !slices.Contains(process.Kinds, a.Args[0]) || a.Count > maxSpawn {
		return refused("spawn needs a kind of %q, and a count of at most %d", process.Kinds, maxSpawn)
	}
	var o attempt.Observation
	for range max(a.Count, 1) {
		pid, err := process.Sleep(a.Args[0], a.Args[1:]...)
		if err != nil {
			note(&o, err)
			return o
		}
		o.Value = int64(pid)
		o.Names = append(o.Names, fmt.Sprint(pid))
	}
	return o
}

// run starts a program with Data as its input and waits for it: Text is its output, both streams,
// Value its exit code, or 128+N with Errno "other" when a signal ended it.
func (p *Probe) run(ctx context.Context, a attempt.Attempt) attempt.Observation {
	cmd := exec.CommandContext(ctx, a.Path, a.Args...)
	cmd.Stdin = bytes.NewReader(a.Data)
	cmd.WaitDelay = time.Second
	out, err := cmd.CombinedOutput()
	o := attempt.Observation{Text: string(out)}
	var ended *exec.ExitError
	switch {
	case ctx.Err() != nil:
		note(&o, ctx.Err())
	case errors.As(err, &ended) && ended.Exited():
		o.Value = int64(ended.ExitCode())
	case errors.As(err, &ended):
		o.Value = 128 + int64(ended.Sys().(syscall.WaitStatus).Signal())
		note(&o, err)
	default:
		note(&o, err)
	}
	return o
}

func (p *Probe) signal(_ context.Context, a attempt.Attempt) attempt.Observation {
	if a.PID == 0 {
		return refused("signal needs a pid")
	}
	return failed(os.NewSyscallError("kill", unix.Kill(a.PID, syscall.Signal(a.Code))))
}
