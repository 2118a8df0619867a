package probe

import (
	"fmt"
	"os"
	"strconv"

	"golang.org/x/sys/unix"
)

// scanLimit bounds the search for descriptors where /proc is missing.
const scanLimit = 1 << 16

// descriptors are those that were inherited, with what they are. A descriptor
// that came through execve(2) never has FD_CLOEXEC set, and all that the probe
// and its runtime open themselves has: so the flag tells them apart.
func descriptors() map[int]string {
	found := map[int]string{}
	for _, fd := range numbers() {
		flags, err := unix.FcntlInt(uintptr(fd), unix.F_GETFD, 0)
		if err == nil && flags&unix.FD_CLOEXEC == 0 {
			found[fd] = describe(fd)
		}
	}
	return found
}

// numbers are the candidates: the entries of /proc/self/fd, or without it every
// number up to the limit.
func numbers() []int {
	var found []int
	if entries, err := os.ReadDir("/proc/self/fd"); err == nil {
		for _, entry := range entries {
			if fd, err := strconv.Atoi(entry.Name()); err == nil {
				found = append(found, fd)
			}
		}
		return found
	}
	var limit unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &limit); err != nil || limit.Cur > scanLimit {
		limit.Cur = scanLimit
	}
	for fd := range int(limit.Cur) {
		found = append(found, fd)
	}
	return found
}

// describe says what a descriptor is: the link of /proc, or type and inode.
func describe(fd int) string {
	if link, err := os.Readlink("/proc/self/fd/" + strconv.Itoa(fd)); err == nil {
		return link
	}
	var stat unix.Stat_t
	if err := unix.Fstat(fd, &stat); err != nil {
		return err.Error()
	}
	return fmt.Sprintf("mode:%o:[%d]", stat.Mode&unix.S_IFMT, stat.Ino)
}
