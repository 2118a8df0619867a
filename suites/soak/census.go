package soak

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// census is everything of the lab that a subject could leave, as lines for a
// person, each with what it is before the colon.
type census []string

// take counts. Work is the folder of the phases.
func take(work string) (census, error) {
	var all census
	processes, err := processes()
	if err != nil {
		return nil, err
	}
	all = append(all, processes...)
	for _, kind := range []string{"unix", "tcp", "tcp6", "udp", "udp6"} {
		all = append(all, sockets(kind)...)
	}
	own, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		return nil, err
	}
	all = append(all, fmt.Sprintf("descriptors of this process: %d", len(own)))
	mounts, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil {
		return nil, err
	}
	const mountPoint = 4 // proc_pid_mountinfo(5)
	for line := range strings.Lines(string(mounts)) {
		if f := strings.Fields(line); len(f) > mountPoint {
			all = append(all, "mount: "+f[0]+" "+f[mountPoint])
		}
	}
	all = append(all, files(work)...)
	return append(all, controlGroups()...), nil
}

// beyond are the lines that were not there before.
func (c census) beyond(before census) (left []string) {
	for _, line := range c {
		if !slices.Contains(before, line) {
			left = append(left, line)
		}
	}
	return left
}

// processes tells of each with its namespaces: one of another network is one
// that a subject has made.
func processes() (all []string, err error) {
	entries, err := os.ReadDir("/proc")
	if err != nil {
		return nil, err
	}
	for _, e := range entries {
		pid, err := strconv.Atoi(e.Name())
		if err != nil {
			continue
		}
		line, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
		if err != nil {
			continue // it has just ended
		}
		net, _ := os.Readlink(fmt.Sprintf("/proc/%d/ns/net", pid)) // not readable for one of another user
		all = append(all, fmt.Sprintf("process %d: %s %s", pid, strings.ReplaceAll(strings.TrimRight(string(line), "\x00"), "\x00", " "), net))
	}
	return all, nil
}

// sockets are those that listen or have no peer to end them, proc_net(5).
func sockets(kind string) (all []string) {
	text, err := os.ReadFile("/proc/self/net/" + kind)
	if err != nil {
		return nil // a host without IPv6
	}
	const tcpState, listen = 3, "0A"
	for line := range strings.Lines(string(text)) {
		f := strings.Fields(line)
		switch {
		case len(f) <= tcpState || f[0] == "sl" || f[0] == "Num":
		case strings.HasPrefix(kind, "tcp") && f[tcpState] != listen: // TIME_WAIT and its like end by themselves
		case kind == "unix":
			all = append(all, "socket: unix "+strings.Join(f[6:], " "))
		default:
			all = append(all, fmt.Sprintf("socket: %s %s", kind, f[1]))
		}
	}
	return all
}

// files are those in the subjects' temporary folders.
func files(work string) (all []string) {
	_ = filepath.WalkDir(work, func(path string, e fs.DirEntry, err error) error {
		rest, in := strings.CutPrefix(path, work+"/")
		if _, temporary, found := strings.Cut(rest, tmpFolder+"/"); in && found && temporary != "" {
			all = append(all, "file: "+path)
		}
		return nil // what is removed meanwhile is gone
	})
	return all
}

// controlGroups are the direct children of this process's own, cgroups(7), that
// nobody holds: the tree is the machine's, and others use it too.
func controlGroups() (all []string) {
	text, err := os.ReadFile("/proc/self/cgroup")
	if err != nil {
		return nil
	}
	for line := range strings.Lines(strings.TrimSpace(string(text))) {
		_, rest, _ := strings.Cut(strings.TrimSpace(line), ":")
		controllers, path, _ := strings.Cut(rest, ":")
		for _, at := range []string{"/sys/fs/cgroup/" + controllers + path, "/sys/fs/cgroup" + path} {
			entries, err := os.ReadDir(at)
			if err != nil {
				continue
			}
			for _, e := range entries {
				if dir := filepath.Join(at, e.Name()); e.IsDir() && strings.HasPrefix(e.Name(), "bridge-") && abandoned(dir) {
					all = append(all, "control group: "+dir)
				}
			}
		}
	}
	return all
}

// abandoned tells whether a control group is this user's and nobody's lock is on it.
func abandoned(dir string) bool {
	fd, err := unix.Open(dir, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return false // it has just been removed
	}
	defer unix.Close(fd)
	var st unix.Stat_t
	if unix.Fstat(fd, &st) != nil || int(st.Uid) != os.Geteuid() {
		return false
	}
	return unix.Flock(fd, unix.LOCK_EX|unix.LOCK_NB) == nil
}
