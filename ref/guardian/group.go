package guardian

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strings"
	"time"

	"bridgecheck/ref/cgroup"
)

// emptied is how long the processes of a killed sandbox may take to be gone.
const emptied = 30 * time.Second

// Group is a control group of a sandbox's, removed when it is empty however the
// caller ends.
type Group struct {
	*cgroup.Group
	*helper
}

// OpenGroup makes a control group with limits. The error wraps
// [cgroup.ErrNotDelegated] where this user may make none.
func OpenGroup(l cgroup.Limits) (*Group, error) {
	h, err := start(taskGroup, fmt.Sprintf("%d %d", l.Memory, l.PIDs), nil)
	if err != nil && strings.HasSuffix(err.Error(), cgroup.ErrNotDelegated.Error()) {
		return nil, cgroup.ErrNotDelegated
	}
	if err != nil {
		return nil, fmt.Errorf("control group: %w", err)
	}
	g, err := cgroup.Open(strings.Split(h.answer, "\t"), l)
	if err != nil {
		return nil, errors.Join(err, h.end())
	}
	return &Group{g, h}, nil
}

// Close removes the group, whose processes must have ended.
func (g *Group) Close() error {
	g.Release()
	if g.end() == nil {
		return nil
	}
	return g.Remove(emptied) // somebody ended the guardian
}

// guardGroup is the guardian: it makes the group, answers with its directories,
// and removes it at the end of lifeline.
func guardGroup(limits string, lifeline io.Reader, answer io.WriteCloser) int {
	var l cgroup.Limits
	var g *cgroup.Group
	_, err := fmt.Sscan(limits, &l.Memory, &l.PIDs)
	if err == nil {
		g, err = cgroup.Make(l)
	}
	dirs := ""
	if err == nil {
		dirs, err = strings.Join(g.Dirs, "\t"), admits(g)
	}
	if err != nil && g != nil {
		err = errors.Join(g.Remove(emptied), err)
	}
	if !reply(answer, dirs, err) {
		return 1
	}
	_, _ = io.Copy(io.Discard, lifeline)
	if g.Remove(emptied) != nil {
		return 1
	}
	return 0
}

// admits tries, with a process that does nothing, whether this user may move one
// into the group: in a part of the tree that was delegated by half it may not.
func admits(g *cgroup.Group) error {
	h, err := start(taskNothing, "", nil)
	if err != nil {
		return err
	}
	moving := g.Add(h.process.Process.Pid)
	_ = h.end() // it has nothing to undo
	if errors.Is(moving, fs.ErrPermission) {
		return cgroup.ErrNotDelegated
	}
	return moving
}
