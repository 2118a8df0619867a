package ref

import (
	"errors"
	"syscall"

	"bridgecheck/ref/cgroup"
	"bridgecheck/ref/config"
	"bridgecheck/ref/guardian"
	"bridgecheck/ref/sandbox"
)

// openGroup makes a control group for what the sandbox may use as a whole, where
// this user may make one. Resource limits hold each process all the same.
func (p *phase) openGroup(l *config.Limits) error {
	p.group = nil
	if l.Memory == 0 && l.PIDs == 0 || p.opt.Launcher != nil {
		return nil
	}
	group, err := guardian.OpenGroup(cgroup.Limits{Memory: l.Memory, PIDs: l.PIDs})
	if errors.Is(err, cgroup.ErrNotDelegated) {
		p.opt.Log.Debug("limits are each process's alone", "cause", err)
		return nil
	}
	if err != nil {
		return err
	}
	p.group = group
	p.later(group.Close)
	return nil
}

// outOfMemory tells whether the kernel ended the agent since the sandbox had
// used up its memory.
func (p *phase) outOfMemory(exit sandbox.Exit) bool {
	return p.group != nil && exit.Signal == syscall.SIGKILL && p.group.Killed() > 0
}
