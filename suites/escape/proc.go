package escape

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"bridgecheck/fakes/attempt"
	"bridgecheck/suites/catalog"
	"bridgecheck/suites/kit"
	"bridgecheck/suites/subject"
)

var _ = kit.Table(catalog.Case{
	ID:     "ESC-009",
	Title:  "sees no process, environment or memory of the host",
	Must:   "/proc MUST show only the sandbox's processes, and neither environment nor memory of the host's.",
	Level:  catalog.Security,
	Clause: "11.9",
	Needs:  []subject.Capability{subject.PIDNS},
	Host:   []catalog.HostFact{catalog.HostUserNS},
	Faults: []string{"host-proc", "init-environment"},
	Why:    "What a user starts, that user's agent may read: credentials stand in environments and arguments.",
}, []kit.Row[string]{
	{Name: "arguments", Value: "cmdline"},
	{Name: "environment", Value: "environ"},
}, func(ctx context.Context, t *kit.T, file string) {
	mark := "planted-" + t.Unique()
	outside := t.OutsideWith(ctx, "BRIDGECHECK_PLANTED="+mark)
	outside.Do(ctx, attempt.Attempt{Op: attempt.OpSpawn, Args: []string{"child", mark}})
	t.Control("processes outside that show the mark", holders(ctx, outside, file, mark), kit.Differ([]string{}))

	agent := t.Start(ctx, subject.Spec{}, kit.WithEnv("BRIDGECHECK_PLANTED="+mark)).Agent
	t.Attempt("processes in the sandbox that show the mark", holders(ctx, agent, file, mark), kit.BeNone())
	// With another's /proc the agent's own number there is another as well.
	stat := agent.Do(ctx, attempt.Attempt{Op: attempt.OpReadFile, Path: "/proc/self/stat"}).Text
	own, _, _ := strings.Cut(stat, " ")
	for _, pid := range others(agent.Facts(ctx)) {
		if strconv.Itoa(pid) == own {
			continue
		}
		memory := attempt.Attempt{Op: attempt.OpOpen, Path: fmt.Sprintf("/proc/%d/mem", pid), Args: []string{"r"}}
		t.Attempt(fmt.Sprintf("the memory of process %d", pid), agent.Do(ctx, memory), kit.HaveErrno("EACCES", "EPERM", "ENOENT", "ESRCH"))
	}
})

// holders are the processes whose file in /proc can be read and holds the mark.
func holders(ctx context.Context, a *kit.Agent, file, mark string) []string {
	list := []string{}
	for _, name := range a.Do(ctx, attempt.Attempt{Op: attempt.OpListDir, Path: "/proc"}).Names {
		if _, err := strconv.Atoi(name); err != nil {
			continue
		}
		read := a.Do(ctx, attempt.Attempt{Op: attempt.OpReadFile, Path: "/proc/" + name + "/" + file})
		if strings.Contains(read.Text, mark) {
			list = append(list, name)
		}
	}
	return list
}
