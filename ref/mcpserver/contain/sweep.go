package contain

import (
	"bytes"
	"os"
	"strconv"
	"syscall"
	"time"
)

// The bounds of a sweep: where a process cannot be killed (it waits in the
// kernel) the intermediate must still end.
const (
	sweepBound = 2 * time.Second
	sweepPause = 2 * time.Millisecond
)

// signalAll sends s to every process of the tree but this one.
func (g *guard) signalAll(s syscall.Signal) {
	if g.level == Namespace {
		_ = syscall.Kill(-1, s) // kill(2): every process of the namespace except PID 1
		return
	}
	for _, pid := range descendants(os.Getpid()) {
		_ = syscall.Kill(pid, s)
	}
}

// kill ends the tree: in a PID namespace by the end of this process, elsewhere by
// a sweep that goes on until [guard.reapRest] has found nobody left. A look at
// /proc cannot find that: who forks during it, and is gone before it is done, leaves
// a child that was not seen.
func (g *guard) kill() {
	if g.level == Namespace {
		syscall.Exit(1)
	}
	g.sweeping.Do(func() { go sweep() })
}

// sweep kills whoever it sees, time and again.
func sweep() {
	ticker := time.NewTicker(sweepPause)
	defer ticker.Stop()
	for end := time.Now().Add(sweepBound); time.Now().Before(end); <-ticker.C {
		for _, pid := range descendants(os.Getpid()) {
			_ = syscall.Kill(pid, syscall.SIGKILL)
		}
	}
	syscall.Exit(1)
}

// descendants lists the processes below root. A subreaper is the ancestor of all
// that it started, however often they forked and whatever session they are in.
// Dead ones are not left out: one whose first thread has ended looks dead, and its
// others run on.
func descendants(root int) []int {
	children := map[int][]int{}
	entries, err := os.ReadDir("/proc")
	if err != nil {
		return nil
	}
	for _, e := range entries {
		pid, err := strconv.Atoi(e.Name())
		if err != nil {
			continue
		}
		stat, err := os.ReadFile("/proc/" + e.Name() + "/stat")
		if err != nil {
			continue // it ended meanwhile
		}
		if parent, ok := parentOf(stat); ok {
			children[parent] = append(children[parent], pid)
		}
	}
	var out []int
	for queue := []int{root}; len(queue) > 0; queue = queue[1:] {
		queue = append(queue, children[queue[0]]...)
		out = append(out, children[queue[0]]...)
	}
	return out
}

// parentOf reads the parent of proc_pid_stat(5). The command's name may hold
// blanks and brackets, so the fields are counted from the last bracket.
func parentOf(stat []byte) (parent int, ok bool) {
	fields := bytes.Fields(stat[bytes.LastIndexByte(stat, ')')+1:])
	if len(fields) < 2 {
		return 0, false
	}
	parent, err := strconv.Atoi(string(fields[1]))
	return parent, err == nil
}
