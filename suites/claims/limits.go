package claims

import (
	"context"
	"fmt"
	"os"
	"strings"

	"bridgecheck/fakes/attempt"
	"bridgecheck/suites/catalog"
	"bridgecheck/suites/kit"
	"bridgecheck/suites/subject"
)

// bound is one limit and what goes beyond it.
type bound struct {
	limits subject.Limits
	beyond func(ctx context.Context, a *kit.Agent) string
	// ends are the ways in which the kernel keeps a program within it.
	ends []string
}

var _ = kit.Table(catalog.Case{
	ID:     "CAP-006",
	Title:  "holds the agent to the limits of the spec",
	Must:   "limits.memory, limits.pids and limits.files MUST be enforced where the capability limits is claimed.",
	Level:  catalog.Security,
	Clause: "12.6",
	Needs:  []subject.Capability{subject.LimitsCap},
	Faults: []string{"memory-unbounded", "processes-unbounded", "descriptors-unbounded"},
	Why:    "An agent that runs away takes the host with it when nothing but the spec bounds it.",
}, []kit.Row[bound]{
	{Name: "memory", Value: bound{subject.Limits{Memory: 128 << 20}, takeMemory, []string{"ENOMEM", "EAGAIN", "ended by SIGKILL"}}},
	{Name: "pids", Value: bound{subject.Limits{PIDs: 48}, startProcesses, []string{"EAGAIN", "the agent ended"}}},
	{Name: "files", Value: bound{subject.Limits{Files: 48}, openFiles, []string{"EMFILE"}}},
}, func(ctx context.Context, t *kit.T, b bound) {
	if b.limits.PIDs > 0 && os.Getuid() == 0 {
		t.NotApplicable("the kernel counts no processes of root; the cell of an ordinary user is asked")
	}
	free := t.Start(ctx, subject.Spec{})
	t.Control("the same without the limit", b.beyond(ctx, free.Agent), kit.Be("success"))
	free.Finish(ctx)

	held := t.Start(ctx, subject.Spec{Limits: &b.limits})
	t.Attempt("the phase with the limit", held.Fate(ctx), kit.Be("the agent runs"))
	t.Attempt("what goes beyond it", b.beyond(ctx, held.Agent), kit.BeOneOf(b.ends...))
})

// takeMemory takes 192 MiB and has the kernel fill them, in a child of the probe.
func takeMemory(ctx context.Context, a *kit.Agent) string {
	return told(a.Do(ctx, attempt.Attempt{Op: attempt.OpCall, Call: "mmap", Words: []uint64{0, 192 << 20}}))
}

// startProcesses starts 64. Where the probe's runtime needs a thread just then,
// the agent itself ends.
func startProcesses(ctx context.Context, a *kit.Agent) string {
	o, err := a.Try(ctx, attempt.Attempt{Op: attempt.OpSpawn, Args: []string{"child"}, Count: 64})
	if err != nil {
		return "the agent ended"
	}
	return told(o)
}

// openFiles holds 64 sockets.
func openFiles(ctx context.Context, a *kit.Agent) string {
	for i := range 64 {
		o := a.Do(ctx, attempt.Attempt{Op: attempt.OpListen, Network: "tcp", Address: "127.0.0.1:0", Conn: fmt.Sprint("held-", i)})
		if o.Errno != "" {
			return told(o)
		}
	}
	return "success"
}

func told(o attempt.Observation) string {
	switch {
	case o.Errno == "":
		return "success"
	case strings.Contains(o.Error, "SIGKILL"):
		return "ended by SIGKILL"
	}
	return o.Errno
}
