package ref

import (
	"context"
	"errors"
	"slices"
	"syscall"

	"golang.org/x/sys/unix"

	"bridgecheck/ref/plan"
	"bridgecheck/ref/sandbox"
)

// missing is a launch failure in the plan's terms.
func missing(f *sandbox.Failure) *plan.Missing {
	return &plan.Missing{Stage: f.Stage, Errno: unix.ErrnoName(f.Errno), Causes: f.Causes}
}

// denials are what kernels, security modules and outer filters answer when they
// will never do a step, by the layer that a launch could go on without. Anything
// else (a path that is gone, descriptors used up, a limit that cannot be set, a
// check that finds a hole) is no property of the host that a weaker sandbox
// would answer, and must not lead to one.
var denials = map[string][]syscall.Errno{
	sandbox.StageClone:        {unix.EPERM, unix.EACCES, unix.ENOSPC, unix.EUSERS, unix.EINVAL, unix.ENOSYS},
	sandbox.StageLoopback:     {unix.EPERM, unix.EACCES, unix.ENOSYS, unix.EAFNOSUPPORT},
	sandbox.StageListen:       {unix.EPERM, unix.EACCES, unix.ENOSYS, unix.EAFNOSUPPORT},
	sandbox.StageMounts:       {unix.EPERM, unix.EACCES, unix.ENOSYS, unix.EINVAL, unix.ENODEV},
	sandbox.StageProc:         {unix.EPERM, unix.EACCES, unix.ENOSYS, unix.EINVAL, unix.ENODEV},
	sandbox.StagePivot:        {unix.EPERM, unix.EACCES, unix.ENOSYS, unix.EINVAL},
	sandbox.StageCapabilities: {unix.EPERM, unix.EINVAL},
	sandbox.StageLandlock:     {unix.EPERM, unix.ENOSYS, unix.EOPNOTSUPP, unix.E2BIG},
	sandbox.StageSeccomp:      {unix.EPERM, unix.ENOSYS, unix.EINVAL},
}

// layer is the one that the host was found not to give, nil when the failure
// says nothing of that kind.
func layer(host *plan.Host, level string, f *sandbox.Failure) **plan.Missing {
	if !slices.Contains(denials[f.Stage], f.Errno) {
		return nil
	}
	switch f.Stage {
	case sandbox.StageLandlock:
		return &host.Landlock
	case sandbox.StageSeccomp:
		return &host.Seccomp
	case sandbox.StageLoopback, sandbox.StageListen:
		return &host.NetNS
	case sandbox.StageClone:
		if level == plan.Isolated {
			return &host.NetNS
		}
	}
	return &host.UserNS
}

// weaken notes in host what the failure tells of it, and reports whether that is
// news: then it is worth deciding again.
func weaken(host *plan.Host, level string, err error) bool {
	var f *sandbox.Failure
	if !errors.As(err, &f) {
		return false
	}
	found := layer(host, level, f)
	if found == nil || *found != nil {
		return false
	}
	*found = missing(f)
	return true
}

// Probe finds out what this host can do by making sandboxes in which nothing
// runs, weaker ones where a stronger is denied. An error is a host on which a
// sandbox fails for another reason.
func Probe(ctx context.Context) (plan.Host, error) {
	return probe(plan.Host{}, func(s sandbox.Spec) (box, error) { return sandbox.Launch(ctx, s) })
}

func probe(host plan.Host, launch func(sandbox.Spec) (box, error)) (plan.Host, error) {
	for {
		level := plan.Isolated
		switch {
		case host.UserNS != nil:
			level = plan.SharedNone
		case host.NetNS != nil, host.Launcher != nil && !host.Launcher.OwnNetwork:
			level = plan.SharedUserNS
		}
		box, err := launch(sandbox.Spec{
			Path: "/bin/true", Level: sandbox.Level(level),
			Landlock: host.Landlock == nil, Seccomp: profile("", host.Seccomp == nil),
		})
		if err == nil {
			_ = box.Kill() // nothing has started in it
			_, _ = box.Wait()
			return host, nil
		}
		if !weaken(&host, level, err) {
			return host, err
		}
	}
}
