package ref

import (
	"context"
	"errors"

	"golang.org/x/sys/unix"

	"bridgecheck/ref/plan"
	"bridgecheck/ref/sandbox"
)

// missing is a launch failure in the plan's terms.
func missing(f *sandbox.Failure) *plan.Missing {
	if f == nil {
		return nil
	}
	return &plan.Missing{Stage: f.Stage, Errno: unix.ErrnoName(f.Errno), Causes: f.Causes}
}

// weaken notes that the host failed at a level and reports whether that is
// news: then it is worth deciding again.
func weaken(host *plan.Host, level string, f *sandbox.Failure) bool {
	layer := &host.UserNS
	switch {
	case f.Stage == sandbox.StageLandlock:
		layer = &host.Landlock
	case f.Stage == sandbox.StageSeccomp:
		layer = &host.Seccomp
	case level == plan.Isolated:
		layer = &host.NetNS
	}
	if *layer != nil {
		return false
	}
	*layer = missing(f)
	return true
}

// Probe finds out what this host can do by making sandboxes in which nothing
// runs, weaker ones where a stronger fails.
func Probe(ctx context.Context) plan.Host {
	var host plan.Host
	for level := plan.Isolated; ; {
		box, err := sandbox.Launch(ctx, sandbox.Spec{
			Path: "/bin/true", Level: sandbox.Level(level),
			Landlock: host.Landlock == nil, Seccomp: profile("", host.Seccomp == nil),
		})
		if err == nil {
			_ = box.Kill()
			_, _ = box.Wait()
			return host
		}
		var f *sandbox.Failure
		if !errors.As(err, &f) || !weaken(&host, level, f) {
			return host
		}
		switch {
		case host.UserNS != nil:
			level = plan.SharedNone
		case host.NetNS != nil:
			level = plan.SharedUserNS
		}
	}
}
