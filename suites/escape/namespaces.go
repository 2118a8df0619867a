package escape

import (
	"context"
	"fmt"
	"slices"

	"golang.org/x/sys/unix"

	"bridgecheck/fakes/attempt"
	"bridgecheck/suites/catalog"
	"bridgecheck/suites/kit"
	"bridgecheck/suites/subject"
)

// change is a call that makes or enters a namespace, or changes mounts.
type change struct {
	call  string
	words []uint64
	// filtered: only a filter refuses it, no missing capability does.
	filtered bool
	// others: it is aimed at every process that the agent sees but itself.
	others bool
}

var _ = kit.Table(catalog.Case{
	ID:     "ESC-007",
	Title:  "can neither make nor enter a namespace, nor take hold of another process or of keys",
	Must:   "setns, unshare and clone with namespaces, mount, ptrace of the relay, pidfd_getfd, and the kernel's keyrings where system calls are filtered, MUST be refused.",
	Level:  catalog.Security,
	Clause: "11.7",
	Needs:  []subject.Capability{subject.NetNS},
	Host:   []catalog.HostFact{catalog.HostUserNS},
	Faults: []string{"namespaces-allowed", "unshare-unfiltered", "clone3-unfiltered", "mounts-allowed", "init-traceable", "keyrings-open"},
	Why:    "In a user namespace of its own an agent has every capability again, and with it the kernel's largest surface.",
}, []kit.Row[change]{
	{Name: "unshare-user", Value: change{call: "unshare", filtered: true, words: []uint64{unix.CLONE_NEWUSER}}},
	{Name: "unshare-all", Value: change{call: "unshare", filtered: true, words: []uint64{unix.CLONE_NEWUSER | unix.CLONE_NEWNS | unix.CLONE_NEWNET}}},
	{Name: "unshare-mount", Value: change{call: "unshare", words: []uint64{unix.CLONE_NEWNS}}},
	{Name: "clone-user", Value: change{call: "clone", filtered: true}},
	{Name: "clone3-user", Value: change{call: "clone3", filtered: true}},
	{Name: "setns", Value: change{call: "setns"}},
	{Name: "mount", Value: change{call: "mount"}},
	{Name: "pivot-root", Value: change{call: "pivot_root"}},
	{Name: "keyctl", Value: change{call: "keyctl", filtered: true}},
	{Name: "add-key", Value: change{call: "add_key", filtered: true}},
	{Name: "ptrace", Value: change{call: "ptrace", others: true}},
	{Name: "pidfd-getfd", Value: change{call: "pidfd_getfd", others: true}},
	{Name: "process-vm-readv", Value: change{call: "process_vm_readv", others: true}},
}, func(ctx context.Context, t *kit.T, c change) {
	if c.filtered {
		t.Require(subject.Seccomp)
	}
	call := attempt.Attempt{Op: attempt.OpCall, Call: c.call, Words: c.words}
	control := t.Bare(ctx).Do(ctx, call)
	if control.Errno == "ENOSYS" {
		t.Moot("this kernel has no such call")
	}
	t.Control("the call passes in a bare namespace", control.Text, kit.Be("passed"))

	agent := t.Start(ctx, subject.Spec{}).Agent
	if !c.others {
		t.Attempt("the same in the sandbox", agent.Do(ctx, call), kit.HaveErrno(forbidden...))
		return
	}
	for _, call.PID = range others(agent.Facts(ctx)) {
		t.Attempt(fmt.Sprintf("the same in the sandbox, at process %d", call.PID), agent.Do(ctx, call), kit.HaveErrno(append(slices.Clone(forbidden), "ESRCH")...))
	}
})

// others are the processes that the agent sees but itself: an init, a relay. The
// first of the namespace is always there, shown or not.
func others(f attempt.Facts) []int {
	list := []int{}
	for _, pid := range append(slices.Clone(f.Processes), 1) {
		if pid != f.PID && !slices.Contains(list, pid) {
			list = append(list, pid)
		}
	}
	return list
}

// forbidden are the errnos of a call that is not for the agent: by filter, by
// capability, or by a limit of no more namespaces (ENOSPC, user_namespaces(7)).
var forbidden = []string{"EPERM", "EACCES", "ENOSYS", "ENOSPC"}
