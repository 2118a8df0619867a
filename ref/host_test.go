package ref

import (
	"errors"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"bridgecheck/ref/plan"
	"bridgecheck/ref/sandbox"
)

// FBK-010: only what the host denies for good leads to a weaker sandbox; what
// would fail in every sandbox, or fails for once, refuses the start.
func TestWeaken(t *testing.T) {
	for _, row := range []struct {
		level, stage string
		errno        syscall.Errno
		lost         string
	}{
		{plan.Isolated, sandbox.StageClone, unix.EPERM, "netns"},
		{plan.SharedUserNS, sandbox.StageClone, unix.ENOSPC, "userns"},
		{plan.Isolated, sandbox.StageLoopback, unix.EPERM, "netns"},
		{plan.Isolated, sandbox.StageProc, unix.EPERM, "userns"},
		{plan.SharedUserNS, sandbox.StageCapabilities, unix.EPERM, "userns"},
		{plan.SharedNone, sandbox.StageLandlock, unix.ENOSYS, "landlock"},
		{plan.Isolated, sandbox.StageSeccomp, unix.EINVAL, "seccomp"},

		{plan.Isolated, sandbox.StageClone, unix.EAGAIN, ""},
		{plan.Isolated, sandbox.StageClone, unix.ENOMEM, ""},
		{plan.Isolated, sandbox.StageListen, unix.EADDRINUSE, ""},
		{plan.Isolated, sandbox.StagePaths, unix.EACCES, ""},
		{plan.Isolated, sandbox.StageMounts, unix.ENOSPC, ""},
		{plan.SharedNone, sandbox.StageLandlock, unix.EACCES, ""},
		{plan.Isolated, sandbox.StageLimits, 0, ""},
		{plan.Isolated, sandbox.StageLimits, unix.EPERM, ""},
		{plan.Isolated, sandbox.StageSelfCheck, 0, ""},
		{plan.Isolated, sandbox.StageDescriptors, unix.ENOSYS, ""},
		{plan.Isolated, sandbox.StageTerminal, unix.ENOENT, ""},
		{plan.Isolated, sandbox.StageNoNewPrivs, unix.EPERM, ""},
		{plan.Isolated, sandbox.StageInit, 0, ""},
		{plan.Isolated, sandbox.StageReady, 0, ""},
	} {
		var host plan.Host
		f := &sandbox.Failure{Stage: row.stage, Errno: row.errno}
		news := weaken(&host, row.level, f)
		lost := ""
		for name, m := range map[string]*plan.Missing{"userns": host.UserNS, "netns": host.NetNS, "landlock": host.Landlock, "seccomp": host.Seccomp} {
			if m != nil {
				lost += name
			}
		}
		if lost != row.lost || news != (row.lost != "") {
			t.Errorf("%s: %s, %v: lost %q, news %v; want %q", row.level, row.stage, row.errno, lost, news, row.lost)
		}
		if news && weaken(&host, row.level, f) {
			t.Errorf("%s: %s, %v: the same failure is news twice", row.level, row.stage, row.errno)
		}
	}
	if weaken(new(plan.Host), plan.Isolated, errors.New("something else")) {
		t.Error("an error that is no failure of a launch leads to a weaker sandbox")
	}
}
