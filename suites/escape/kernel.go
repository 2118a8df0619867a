package escape

import (
	"context"

	"bridgecheck/fakes/attempt"
	"bridgecheck/suites/catalog"
	"bridgecheck/suites/kit"
	"bridgecheck/suites/subject"
)

var _ = kit.Table(catalog.Case{
	ID:     "ESC-016",
	Title:  "writes nothing of the host's kernel, as uid 0 neither",
	Must:   "As uid 0 too, nothing of the host MUST be writable through /proc, /sys or /dev.",
	Level:  catalog.Security,
	Clause: "11.16",
	Needs:  []subject.Capability{subject.PIDNS},
	// Two users: uid 0 of this machine, not one of a user namespace alone.
	Host:   []catalog.HostFact{catalog.HostRoot, catalog.HostTwoUIDs},
	Faults: []string{"proc-unmasked", "kmsg-shown", "sys-shown"},
	Why:    "Files of /proc ask for the uid, not for a capability: one line in core_pattern runs a program on the host.",
}, []kit.Row[[]string]{
	{Name: "core-pattern", Value: []string{"/proc/sys/kernel/core_pattern"}},
	{Name: "drop-caches", Value: []string{"/proc/sys/vm/drop_caches"}},
	{Name: "ip-forward", Value: []string{"/proc/sys/net/ipv4/ip_forward"}},
	{Name: "sysrq-trigger", Value: []string{"/proc/sysrq-trigger"}},
	{Name: "kmsg", Value: []string{"/dev/kmsg"}},
	{Name: "cgroup", Value: []string{"/sys/fs/cgroup/cgroup.procs", "/sys/fs/cgroup/pids/tasks", "/sys/fs/cgroup/memory/tasks", "/sys/fs/cgroup/unified/cgroup.procs"}},
}, func(ctx context.Context, t *kit.T, paths []string) {
	outside := t.Outside(ctx)
	var open attempt.Attempt
	var control attempt.Observation
	// The first that can be opened: version 1 and 2 of control groups differ.
	for _, path := range paths {
		open = attempt.Attempt{Op: attempt.OpOpen, Path: path, Args: []string{"w"}}
		if control = outside.Do(ctx, open); control.Errno == "" {
			break
		}
	}
	if control.Errno == "ENOENT" || control.Errno == "EROFS" {
		t.Moot("there is none here: %s", control.Errno)
	}
	t.Control("uid 0 outside opens "+open.Path+" for writing", control, kit.Succeed())

	agent := t.Start(ctx, subject.Spec{}).Agent
	t.Control("the agent is uid 0", agent.Facts(ctx).UID, kit.Be(0))
	t.Attempt("the same in the sandbox", agent.Do(ctx, open), kit.HaveErrno("ENOENT", "ENOTDIR", "EACCES", "EPERM", "EROFS"))
})
