// Package cgroup bounds what all processes of a sandbox use together, by control
// groups (cgroups(7)) of version 1 or 2, where this user may make some: as root,
// or in a part of the tree that was delegated. Resource limits bound each process
// alone, and do not hold root; those are always set, these where they can be.
package cgroup

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// Limits are for all processes of a group; 0 is no limit.
type Limits struct {
	Memory int64 // bytes, of which the sandbox's own first process has room beside
	PIDs   int   // processes and threads, beside those of that process
}

// ErrNotDelegated says that this user may make no group that bounds what is asked.
var ErrNotDelegated = errors.New("no control group may be made here that has the controllers: start in a delegated one (systemd-run --user --scope -p Delegate=yes), or as root")

// room is the memory of a sandbox's first process.
const room = 16 << 20

// Group is a group of its own in each hierarchy that has a controller asked for.
type Group struct {
	// Dirs are its directories.
	Dirs   []string
	limits Limits
	locks  []*os.File
}

// Make makes a group and sets its limits. It holds a lock on each directory as
// long as this process lives, or until Release: one without is swept by the next
// Make. The error wraps [ErrNotDelegated] where there is nothing to be had.
func Make(l Limits) (*Group, error) {
	parents, err := parents()
	if err != nil {
		return nil, err
	}
	g := &Group{limits: l}
	name := "bridge-" + strconv.Itoa(os.Getpid()) + strconv.FormatInt(time.Now().UnixNano(), 36)
	for _, c := range l.controllers() {
		if err := g.add(name, c, parents[c.name]); err != nil {
			return nil, errors.Join(err, g.Remove(0))
		}
	}
	return g, nil
}

// Open is a group that another process has made.
func Open(dirs []string, l Limits) (*Group, error) {
	g := &Group{Dirs: dirs, limits: l}
	for _, dir := range dirs {
		if err := g.lock(dir); err != nil {
			g.Release()
			return nil, err
		}
	}
	return g, nil
}

// add makes the group below the first parent that allows it, unless it is there
// for another controller already, and sets the limits of c in it.
func (g *Group) add(name string, c controller, parents []string) error {
	for _, parent := range parents {
		dir := filepath.Join(parent, name)
		if slices.Contains(g.Dirs, dir) {
			if c.set(dir) == nil {
				return nil
			}
			continue
		}
		if g.mkdir(dir) != nil {
			continue // not this user's
		}
		if c.set(dir) == nil {
			sweep(parent, name)
			return nil
		}
		g.forget(dir) // the controller is not enabled there
	}
	return fmt.Errorf("%s: %w", c.name, ErrNotDelegated)
}

// mkdir makes a directory and holds it. Another process that sweeps may come
// between the two, and take it for one that was left.
func (g *Group) mkdir(dir string) (err error) {
	for range 3 {
		if err = os.Mkdir(dir, 0o755); err != nil {
			return err
		}
		if err = g.lock(dir); err == nil {
			g.Dirs = append(g.Dirs, dir)
			return nil
		}
	}
	return err
}

func (g *Group) forget(dir string) {
	last := len(g.Dirs) - 1
	_ = g.locks[last].Close() // it was only locked
	g.Dirs, g.locks = g.Dirs[:last], g.locks[:last]
	_ = os.Remove(dir) // it has just been made, and holds nothing
}

// lock holds a directory against being swept.
func (g *Group) lock(dir string) error {
	f, err := os.OpenFile(dir, os.O_RDONLY|syscall.O_DIRECTORY|syscall.O_NOFOLLOW, 0)
	if err != nil {
		return fmt.Errorf("hold control group: %w", err)
	}
	err = unix.Flock(int(f.Fd()), unix.LOCK_SH) // who sweeps holds it for a moment
	if err == nil {
		_, err = os.Lstat(dir) // it may have been swept before it was locked
	}
	if err != nil {
		return errors.Join(fmt.Errorf("hold control group %s: %w", dir, err), f.Close())
	}
	g.locks = append(g.locks, f)
	return nil
}

// Release gives the locks up.
func (g *Group) Release() {
	for _, f := range g.locks {
		_ = f.Close() // it was only locked
	}
	g.locks = nil
}

// Add moves a process, with all its threads, into the group; what it starts is in
// it as well. Its own threads do not count against the limit of processes.
func (g *Group) Add(pid int) error {
	threads, err := os.ReadDir(fmt.Sprintf("/proc/%d/task", pid))
	if err != nil {
		return fmt.Errorf("count the threads of the sandbox: %w", err)
	}
	const more = 2 // threads that its runtime may still need
	for _, dir := range g.Dirs {
		if g.limits.PIDs > 0 && exists(dir, pidsMax) {
			if err := write(dir, pidsMax, int64(g.limits.PIDs+len(threads)+more)); err != nil {
				return err
			}
		}
		if err := write(dir, "cgroup.procs", int64(pid)); err != nil {
			return err
		}
	}
	return nil
}

// Killed is how many processes the kernel has ended since the group's memory was
// used up.
func (g *Group) Killed() int {
	killed := 0
	for _, dir := range g.Dirs {
		for _, file := range []string{"memory.events", "memory.oom_control"} { // version 2, version 1
			text, err := os.ReadFile(filepath.Join(dir, file))
			if err != nil {
				continue
			}
			for line := range strings.Lines(string(text)) {
				if n, found := strings.CutPrefix(strings.TrimSpace(line), "oom_kill "); found {
					count, _ := strconv.Atoi(n) // the kernel's own number
					killed += count
				}
			}
		}
	}
	return killed
}

// Remove removes the group once it is empty, for which it waits so long.
func (g *Group) Remove(patience time.Duration) error {
	g.Release()
	deadline := time.Now().Add(patience)
	var errs []error
	for _, dir := range g.Dirs {
		err := os.Remove(dir)
		for errors.Is(err, unix.EBUSY) && time.Now().Before(deadline) {
			wait := time.NewTimer(time.Millisecond)
			<-wait.C
			err = os.Remove(dir)
		}
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			errs = append(errs, fmt.Errorf("remove control group: %w", err))
		}
	}
	return errors.Join(errs...)
}
