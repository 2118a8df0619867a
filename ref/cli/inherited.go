package cli

import (
	"fmt"
	"slices"
	"strconv"

	"golang.org/x/sys/unix"

	"bridgecheck/ref/config"
)

// inherited are the descriptors that were open at the start: only those may be
// declared, never one that this program opened meanwhile.
var inherited []int

// noteInherited must run before anything is opened. It uses plain system calls,
// since package os would open a poller of its own.
func noteInherited() {
	dir, err := unix.Open("/proc/self/fd", unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return // without /proc nothing can be declared, and no sandbox be made
	}
	defer unix.Close(dir)
	buf := make([]byte, 8192)
	for {
		n, err := unix.ReadDirent(dir, buf)
		if err != nil || n <= 0 {
			return
		}
		_, _, names := unix.ParseDirent(buf[:n], -1, nil)
		for _, name := range names {
			fd, err := strconv.Atoi(name)
			if err != nil {
				continue
			}
			// What the runtime has opened already is close-on-exec; what came
			// through the exec cannot be.
			if flags, err := unix.FcntlInt(uintptr(fd), unix.F_GETFD, 0); err == nil && flags&unix.FD_CLOEXEC == 0 {
				inherited = append(inherited, fd)
			}
		}
	}
}

// checkInherited refuses declared descriptors that are not the caller's to give.
func checkInherited(spec config.Spec, control int) error {
	var bad []config.Problem
	for i, fd := range spec.Descriptors {
		field := fmt.Sprintf("descriptors[%d]", i)
		switch {
		case fd == control:
			bad = append(bad, config.Problem{Field: field, Message: fmt.Sprintf("%d is the control stream", fd), Fix: "the agent never gets it; remove it"})
		case !slices.Contains(inherited, fd):
			bad = append(bad, config.Problem{Field: field, Message: fmt.Sprintf("%d was not open at the start", fd), Fix: "open it in the caller, or remove it"})
		}
	}
	if bad == nil {
		return nil
	}
	return &config.Error{Problems: bad}
}
