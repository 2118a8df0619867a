package probe

import (
	"context"
	"os"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"bridgecheck/fakes/attempt"
)

// namespaceNames are the links of /proc/self/ns that are reported.
var namespaceNames = []string{"net", "user", "pid", "mnt", "ipc", "uts", "cgroup"}

// facts reports what can be seen. What cannot be read stays empty; a refused
// netlink socket is told in Errno, with the interfaces read by ioctl instead.
func (p *Probe) facts(context.Context, attempt.Attempt) attempt.Observation {
	var o attempt.Observation
	f := &attempt.Facts{
		PID: os.Getpid(), PPID: os.Getppid(), UID: os.Getuid(), GID: os.Getgid(),
		Namespaces:   map[string]uint64{},
		Capabilities: map[string]string{},
		Descriptors:  descriptors(),
		Env:          os.Environ(),
		Args:         os.Args,
		Terminal:     terminal(),
		Processes:    processes(),
	}
	for _, name := range namespaceNames {
		if inode, err := namespace(name); err == nil {
			f.Namespaces[name] = inode
		}
	}
	if uidMap, err := os.ReadFile("/proc/self/uid_map"); err == nil {
		f.UIDMap = string(uidMap)
	}
	f.Cwd, _ = os.Getwd()
	f.Session, _ = unix.Getsid(0)
	readStatus(f)
	var err error
	f.Interfaces, err = interfaces()
	note(&o, err)
	f.Routes, err = routes()
	note(&o, err)
	o.Facts = f
	return o
}

// readStatus takes capabilities, no_new_privs and seccomp from
// /proc/self/status, or the last two from prctl(2) where there is no /proc.
func readStatus(f *attempt.Facts) {
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		set, _ := unix.PrctlRetInt(unix.PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0)
		f.NoNewPrivs = set == 1
		f.Seccomp, _ = unix.PrctlRetInt(unix.PR_GET_SECCOMP, 0, 0, 0, 0)
		return
	}
	for line := range strings.Lines(string(status)) {
		name, value, _ := strings.Cut(line, ":")
		value = strings.TrimSpace(value)
		switch {
		case strings.HasPrefix(name, "Cap"):
			f.Capabilities[name] = value
		case name == "NoNewPrivs":
			f.NoNewPrivs = value == "1"
		case name == "Seccomp":
			f.Seccomp, _ = strconv.Atoi(value)
		}
	}
}

// terminal opens the controlling terminal and reports "open" or the errno.
func terminal() string {
	fd, err := unix.Open("/dev/tty", unix.O_RDWR|unix.O_NOCTTY|unix.O_NONBLOCK|unix.O_CLOEXEC, 0)
	if err != nil {
		return errnoOf(err)
	}
	_ = unix.Close(fd)
	return "open"
}

// processes are the numeric entries of /proc; nil when there are none.
func processes() []int {
	entries, err := os.ReadDir("/proc")
	if err != nil {
		return nil
	}
	var pids []int
	for _, entry := range entries {
		if pid, err := strconv.Atoi(entry.Name()); err == nil {
			pids = append(pids, pid)
		}
	}
	return pids
}
