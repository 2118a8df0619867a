package lifecycle

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"

	"bridgecheck/suites/catalog"
	"bridgecheck/suites/kit"
	"bridgecheck/suites/subject"
)

var _ = kit.Check(catalog.Case{
	ID:     "LIF-015",
	Title:  "tells a hung server, a dead one and a healthy one apart",
	Must:   "Start MUST return the socket path; a health check MUST tell a hung server from a healthy one within its timeout.",
	Level:  catalog.Interoperability,
	Clause: "6.15",
	Needs:  []subject.Capability{subject.HostServers, subject.Control, subject.Events},
	Faults: []string{"hung-is-healthy", "socket-untold"},
	Why:    "A process that runs is the least that a server can do.",
}, func(ctx context.Context, t *kit.T) {
	mark, doomed := t.Unique(), t.Unique()
	phase := t.Start(ctx, subject.Spec{Servers: []subject.Server{
		t.Server("good"), t.Server("hung", "--mark", mark), t.Server("dead", "--mark", doomed),
	}}, kit.WithControl(), kit.WithoutAgent())
	phase.Ready(ctx)
	health := func(name string) subject.Reply {
		return phase.Control.Do(ctx, subject.Command{Op: "health", Name: name, TimeoutMS: 1500})
	}
	for _, name := range []string{"good", "hung", "dead"} {
		socket := of(phase.Events(subject.EventServerStarted), name).Socket
		info, err := os.Lstat(socket)
		t.Attempt("the path that is told for server "+name+" is a socket", err == nil && info.Mode().Type() == os.ModeSocket, kit.Be(true))
		t.Control("health of server "+name, health(name), kit.BeOK())
	}

	stop(ctx, t, mark)
	t.Attempt("health of a server that is stopped in its tracks", health("hung").Reason, kit.Be("timeout"))
	t.Attempt("health of another meanwhile", health("good"), kit.BeOK())
	signal(t, mark, syscall.SIGCONT)
	t.Attempt("health of the server that goes on", health("hung"), kit.BeOK())

	signal(t, doomed, syscall.SIGKILL)
	phase.AwaitEvent(ctx, subject.EventServerExited, func(e subject.Event) bool { return e.Server == "dead" })
	t.Attempt("health of a server that was killed", health("dead").Reason, kit.Be("dead"))
	unhealthy := phase.Events(subject.EventServerUnhealthy)
	t.Attempt("a report of the hung one", of(unhealthy, "hung").Reason, kit.Be("hung"))
	t.Attempt("a report of the dead one", of(unhealthy, "dead").Reason, kit.Be("dead"))
	t.Attempt("a report of the healthy one", of(unhealthy, "good").Reason, kit.Be(""))
})

// signal sends to the processes that carry the mark, and returns them.
func signal(t *kit.T, mark string, s syscall.Signal) (pids []int) {
	marked := withMark(t, mark)
	t.Control(fmt.Sprintf("processes that get %s", s), marked, kit.Differ([]string{}))
	for _, line := range marked {
		pid, err := strconv.Atoi(strings.Fields(line)[0])
		if err != nil {
			t.Fatal("read a pid: %v", err)
		}
		if err := syscall.Kill(pid, s); err != nil {
			t.Fatal("send %s: %v", s, err)
		}
		pids = append(pids, pid)
	}
	return pids
}

// stop stops the processes that carry the mark in their tracks.
func stop(ctx context.Context, t *kit.T, mark string) {
	for _, pid := range signal(t, mark, syscall.SIGSTOP) {
		t.Await(ctx, "every thread of the server is stopped", func() bool { return stopped(pid) })
	}
}

// stopped tells whether each thread is in state T of proc_pid_stat(5): a thread
// that runs meets the signal when it next enters the kernel.
func stopped(pid int) bool {
	threads, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/stat", pid))
	if err != nil || len(threads) == 0 {
		return false
	}
	for _, path := range threads {
		stat, err := os.ReadFile(path)
		if err != nil || !strings.HasPrefix(string(stat[bytes.LastIndexByte(stat, ')')+1:]), " T") {
			return false
		}
	}
	return true
}
