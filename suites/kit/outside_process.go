package kit

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"bridgecheck/fakes/attempt"
)

// outside is the agent's process as the lab numbers it: the one that has its
// number in its PID namespace.
func (a *Agent) outside(ctx context.Context) (int, error) {
	obs, err := a.try(ctx, attempt.Attempt{Op: attempt.OpFacts})
	if err != nil {
		return 0, fmt.Errorf("it does not answer any more: %w", err)
	}
	if obs.Facts == nil {
		return 0, errors.New("it tells no facts")
	}
	own, refused := obs.Facts, error(nil)
	for pid := range processes() {
		status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
		if err != nil || numberInside(string(status)) != own.PID {
			continue
		}
		var ns unix.Stat_t
		if err := unix.Stat(fmt.Sprintf("/proc/%d/ns/pid", pid), &ns); err != nil {
			refused = fmt.Errorf("process %d may be it: %w", pid, err)
			continue
		}
		if ns.Ino == own.Namespaces["pid"] {
			return pid, nil
		}
	}
	if refused != nil {
		return 0, refused
	}
	return 0, fmt.Errorf("the lab has no process that is number %d in PID namespace %d", own.PID, own.Namespaces["pid"])
}

// numberInside is the process's number in its innermost PID namespace, the last
// of NSpid in /proc/PID/status.
func numberInside(status string) int {
	for line := range strings.Lines(status) {
		if rest, ok := strings.CutPrefix(line, "NSpid:"); ok {
			if all := strings.Fields(rest); len(all) > 0 {
				n, _ := strconv.Atoi(all[len(all)-1]) // 0 is nobody
				return n
			}
		}
	}
	return 0
}

// processState is what /proc tells of the process, outside.
func processState(pid int) []byte {
	var b bytes.Buffer
	for _, name := range []string{"status", "uid_map", "cgroup", "mountinfo"} {
		text, err := os.ReadFile(fmt.Sprintf("/proc/%d/%s", pid, name))
		fmt.Fprintf(&b, "== %s\n%s", name, text)
		if err != nil {
			fmt.Fprintln(&b, err)
		}
	}
	for _, folder := range []string{"ns", "fd"} {
		dir := fmt.Sprintf("/proc/%d/%s", pid, folder)
		entries, err := os.ReadDir(dir)
		fmt.Fprintf(&b, "== %s\n", folder)
		if err != nil {
			fmt.Fprintln(&b, err)
		}
		for _, e := range entries {
			target, err := os.Readlink(dir + "/" + e.Name())
			if err != nil {
				target = err.Error()
			}
			fmt.Fprintf(&b, "%s -> %s\n", e.Name(), target)
		}
	}
	return b.Bytes()
}
