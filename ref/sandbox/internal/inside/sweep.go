package inside

import (
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"bridgecheck/ref/sandbox/internal/wire"
)

// sweep ends every descendant where there is no PID namespace to do it: each
// orphan becomes a child of this subreaper. One that forks faster than it is
// killed can escape; the level says that there is no pidns.
func sweep(level string) {
	if level != wire.SharedNone {
		return // the end of PID 1 is the end of all
	}
	for {
		for _, pid := range children() {
			_ = unix.Kill(pid, unix.SIGKILL)
		}
		pid, err := unix.Wait4(-1, nil, unix.WNOHANG, nil)
		if err != nil && !errors.Is(err, unix.EINTR) {
			return // no child left
		}
		if pid == 0 {
			// The killed are not gone yet, or an orphan has just arrived.
			<-time.After(time.Millisecond)
		}
	}
}

// children lists the processes whose parent this is, by proc_pid_stat(5).
func children() []int {
	entries, err := os.ReadDir("/proc")
	if err != nil {
		return nil
	}
	self := fmt.Sprint(os.Getpid())
	var all []int
	for _, e := range entries {
		pid, err := strconv.Atoi(e.Name())
		if err != nil {
			continue
		}
		stat, err := os.ReadFile("/proc/" + e.Name() + "/stat")
		if err != nil {
			continue
		}
		if parent(string(stat)) == self {
			all = append(all, pid)
		}
	}
	return all
}

// parent is the fourth field of proc_pid_stat(5), "" when there is none. The
// command, which the process chooses, may hold spaces and parentheses.
func parent(stat string) string {
	after := strings.Fields(stat[strings.LastIndexByte(stat, ')')+1:])
	if len(after) < 2 {
		return ""
	}
	return after[1]
}
