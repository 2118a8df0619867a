package escape

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"bridgecheck/fakes/attempt"
	"bridgecheck/suites/catalog"
	"bridgecheck/suites/kit"
	"bridgecheck/suites/subject"
)

var _ = kit.Table(catalog.Case{
	ID:     "ESC-017",
	Title:  "does not find the bridge's control channels",
	Must:   "Control channels of the bridge (descriptors, control socket, guardian pipe) MUST NOT be found in the agent.",
	Level:  catalog.Security,
	Clause: "11.17",
	Needs:  []subject.Capability{subject.FDClean},
	Host:   []catalog.HostFact{catalog.HostUserNS},
	Faults: []string{"control-descriptor-leaks", "runtime-directory-shown"},
	Why:    "Who holds the stream that starts and stops servers is not in a sandbox any more.",
}, []kit.Row[func(context.Context, *kit.T)]{
	{Name: "plain", Value: func(ctx context.Context, t *kit.T) { findNothing(ctx, t, false) }},
	{Name: "control-stream", Value: func(ctx context.Context, t *kit.T) { findNothing(ctx, t, true) }},
	{Name: "sockets", Value: foreignSockets},
}, func(ctx context.Context, t *kit.T, body func(context.Context, *kit.T)) { body(ctx, t) })

func findNothing(ctx context.Context, t *kit.T, stream bool) {
	var options []kit.Option
	if stream {
		t.Require(subject.Control)
		options = append(options, kit.WithControl())
	}
	spec := subject.Spec{Allow: []subject.Rule{{Host: "allowed.test", Port: 443}}}
	if t.Subject().Claims(subject.HostServers) {
		spec.Servers = []subject.Server{t.Server("wiki")}
	}
	outside := t.Outside(ctx)
	t.Control("descriptors of a process outside that can be opened", opened(ctx, outside, outside.Facts(ctx).PID), kit.Contain("0"))
	const declared = 9
	own, err := os.Open("/")
	if err != nil {
		t.Fatal("plant: %v", err)
	}
	defer own.Close()
	with := spec
	with.Descriptors = []int{declared}
	t.Control("a declared descriptor", t.Start(ctx, with, kit.WithFile(declared, own)).Agent.Facts(ctx).Descriptors[declared], kit.Differ(""))

	phase := t.Start(ctx, spec, options...)
	agent := phase.Agent
	facts := agent.Facts(ctx)
	t.Attempt("descriptors of the agent", beyond(facts), kit.BeNone())
	folder := attempt.Attempt{Op: attempt.OpListDir, Path: phase.Temp()}
	t.Control("the folder of the bridge's sockets outside", outside.Do(ctx, folder), kit.Succeed())
	t.Attempt("the same in the sandbox", agent.Do(ctx, folder), kit.HaveErrno("ENOENT", "ENOTDIR", "EACCES", "EPERM"))
	for _, pid := range others(facts) {
		t.Attempt(fmt.Sprintf("descriptors of process %d that can be opened", pid), opened(ctx, agent, pid), kit.BeNone())
	}
}

// foreignSockets tries, for an agent that has servers' sockets as its doors, every
// other socket that the subject has made.
func foreignSockets(ctx context.Context, t *kit.T) {
	t.Require(subject.UnixDoor)
	t.Require(subject.HostServers)
	phase := t.Start(ctx, subject.Spec{
		Servers: []subject.Server{t.Server("wiki"), t.Server("jira")}, Agent: &subject.Agent{Transports: []string{"unix"}},
	})
	door := strings.TrimPrefix(phase.Door(ctx, "jira", "unix"), "unix:")
	dial := func(path string) attempt.Observation { return phase.Agent.Dial(ctx, "unix", path) }
	t.Control("the agent's own door", dial(door), kit.Succeed())
	doors := map[string]bool{}
	for _, d := range phase.Ready(ctx).Doors {
		doors[strings.TrimPrefix(d.URL, "unix:")] = true
	}
	found := 0
	_ = filepath.WalkDir(phase.Temp(), func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.Type() != fs.ModeSocket || doors[path] {
			return nil //nolint:nilerr // what is gone by now is no socket
		}
		found++
		t.Attempt("a socket of the bridge, "+filepath.Base(path), dial(path), kit.HaveErrno("ENOENT", "ENOTDIR", "EACCES", "EPERM", "ECONNREFUSED"))
		return nil
	})
	if found == 0 {
		t.NotApplicable("the subject has no other socket in its runtime directory")
	}
}

// opened lists the descriptors of a process that /proc gives out.
func opened(ctx context.Context, a *kit.Agent, pid int) []string {
	list := []string{}
	dir := fmt.Sprintf("/proc/%d/fd", pid)
	for _, name := range a.Do(ctx, attempt.Attempt{Op: attempt.OpListDir, Path: dir}).Names {
		if a.Do(ctx, attempt.Attempt{Op: attempt.OpOpen, Path: dir + "/" + name, Args: []string{"r"}}).Errno == "" {
			list = append(list, name)
		}
	}
	return list
}
