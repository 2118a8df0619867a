package cgroup

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/sys/unix"
)

// parents are the directories below which a group could be made, by controller,
// the nearest to this process first.
func parents() (map[string][]string, error) {
	own, err := os.ReadFile("/proc/self/cgroup")
	if err != nil {
		return nil, fmt.Errorf("find this process's control groups: %w", err)
	}
	mounts, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil {
		return nil, fmt.Errorf("find the control groups' tree: %w", err)
	}
	return parentsIn(string(own), string(mounts)), nil
}

// hierarchy is one mounted tree: proc_pid_mountinfo(5).
type hierarchy struct {
	root, point string
	unified     bool
	controllers []string // of version 1
}

func parentsIn(own, mounts string) map[string][]string {
	all := map[string][]string{}
	for _, h := range hierarchies(mounts) {
		for line := range strings.Lines(own) {
			_, rest, _ := strings.Cut(strings.TrimSpace(line), ":")
			names, path, _ := strings.Cut(rest, ":")
			below, in := strings.CutPrefix(path, strings.TrimSuffix(h.root, "/"))
			if !in || (names == "") != h.unified || strings.HasPrefix(below, "/..") {
				continue
			}
			dir := filepath.Join(h.point, below)
			switch {
			case h.unified:
				// Only a group without processes may hand its controllers down, so
				// that a sibling of this process's group is the usual place.
				for at := dir; ; at = filepath.Dir(at) {
					all["memory"], all["pids"] = append(all["memory"], at), append(all["pids"], at)
					if at == h.point || len(at) < len(h.point) {
						break
					}
				}
			default:
				for name := range strings.SplitSeq(names, ",") {
					if slices.Contains(h.controllers, name) {
						all[name] = append(all[name], dir)
					}
				}
			}
		}
	}
	return all
}

func hierarchies(mounts string) (all []hierarchy) {
	const root, point = 3, 4
	for line := range strings.Lines(mounts) {
		front, back, _ := strings.Cut(line, " - ")
		f, b := strings.Fields(front), strings.Fields(back)
		if len(f) <= point || len(b) < 3 {
			continue
		}
		switch b[0] {
		case "cgroup2":
			all = append(all, hierarchy{root: f[root], point: f[point], unified: true})
		case "cgroup":
			all = append(all, hierarchy{root: f[root], point: f[point], controllers: strings.Split(b[2], ",")})
		}
	}
	return all
}

// sweep removes the empty groups below parent that nobody holds: their bridges
// were killed together with their guardians.
func sweep(parent, but string) {
	entries, err := os.ReadDir(parent)
	if err != nil {
		return
	}
	for _, e := range entries {
		if !e.IsDir() || !strings.HasPrefix(e.Name(), "bridge-") || e.Name() == but {
			continue
		}
		dir := filepath.Join(parent, e.Name())
		fd, err := unix.Open(dir, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
		if err != nil {
			continue
		}
		if unix.Flock(fd, unix.LOCK_EX|unix.LOCK_NB) == nil {
			_ = unix.Rmdir(dir) // one with processes in it stays
		}
		_ = unix.Close(fd)
	}
}
