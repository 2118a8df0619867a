package kit

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"syscall"
	"time"

	"bridgecheck/suites/lab"
)

// processes lists the lab's processes; the lab has a PID namespace of its own.
func processes() map[int]bool {
	pids := map[int]bool{}
	entries, err := os.ReadDir("/proc")
	if err != nil {
		return pids
	}
	for _, e := range entries {
		if pid, err := strconv.Atoi(e.Name()); err == nil {
			pids[pid] = true
		}
	}
	return pids
}

// Strays are the processes of the lab that are neither the harness's nor one of
// its probes: what a subject has started and is still there.
func (t *T) Strays() []string {
	strays := []string{} // never nil, so that it prints as a list
	t.mu.Lock()
	defer t.mu.Unlock()
	for pid := range processes() {
		if t.run.baseline[pid] || t.pids[pid] {
			continue
		}
		if line, alive := cmdline(pid); alive {
			strays = append(strays, fmt.Sprintf("%d %s", pid, line))
		}
	}
	return strays
}

// cmdline describes a process; a zombie counts as alive, since somebody should
// have waited for it, but one whose parent is the lab's first process does not:
// it is about to be reaped there.
func cmdline(pid int) (string, bool) {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return "", false
	}
	s := string(stat)
	fields := strings.Fields(s[strings.LastIndexByte(s, ')')+1:])
	if len(fields) > 1 && fields[0] == "Z" && fields[1] == "1" {
		return "", false
	}
	raw, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
	if err != nil {
		return "", false
	}
	line := strings.TrimSpace(strings.ReplaceAll(string(raw), "\x00", " "))
	if line == "" {
		line = s[strings.IndexByte(s, '(') : strings.LastIndexByte(s, ')')+1]
	}
	return line, true
}

// sweep is the last clean-up of every check: what it left must not be taken for
// something that the next one left.
func (t *T) sweep() {
	deadline := time.Now().Add(10 * time.Second)
	for {
		left := 0
		for pid := range processes() {
			if t.run.baseline[pid] {
				continue
			}
			left++
			_ = syscall.Kill(pid, syscall.SIGKILL) // it may have ended meanwhile
		}
		if left == 0 {
			break
		}
		if time.Now().After(deadline) {
			t.Fatal("%d processes could not be ended", left)
		}
		time.Sleep(pollEvery)
	}
	if os.Getuid() != 0 {
		return // nobody could have changed the lab's network
	}
	if err := lab.PrepareNetwork(); err != nil {
		t.Fatal("restore the lab's network: %v", err)
	}
}
