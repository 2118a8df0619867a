package kit

import (
	"bytes"
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
		panic(fmt.Sprintf("look at the lab's processes: %v", err)) // else nobody would be left
	}
	for _, e := range entries {
		if pid, err := strconv.Atoi(e.Name()); err == nil {
			pids[pid] = true
		}
	}
	return pids
}

// looks is how often Strays looks until nobody was born meanwhile.
const looks = 1000

// Strays are the processes of the lab that are neither the harness's nor one of
// its probes: what a subject has started and is still there. One who forks during
// a look, and ends, leaves a child that was not seen, so that only a look counts
// during which the kernel gave no new pid.
func (t *T) Strays() []string {
	t.mu.Lock()
	defer t.mu.Unlock()
	for range looks {
		born := lastPID()
		if strays := t.strays(); len(strays) > 0 || lastPID() == born {
			return strays
		}
	}
	return []string{"processes that are started without end"}
}

// lastPID is the pid that the lab's PID namespace gave last, proc_loadavg(5).
func lastPID() string {
	text, err := os.ReadFile("/proc/loadavg")
	if err != nil {
		return "" // one look has to do
	}
	fields := bytes.Fields(text)
	return string(fields[len(fields)-1])
}

func (t *T) strays() []string {
	strays := []string{} // never nil, so that it prints as a list
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
// it is about to be reaped there, unless it is only its first thread that ended.
func cmdline(pid int) (string, bool) {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return "", false
	}
	s := string(stat)
	fields := strings.Fields(s[strings.LastIndexByte(s, ')')+1:])
	const state, parent, threads = 0, 1, 17
	if len(fields) > threads && fields[state] == "Z" && fields[parent] == "1" && fields[threads] == "1" {
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
