package soak

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"bridgecheck/suites/subject"
)

// end is one way in which a phase ends.
type end struct {
	name string
	// kills: the subject is killed, and cannot clear up itself.
	kills bool
	// alone: nothing else may run beside it, since it hits more than its own.
	alone bool
	// spec and servers change what the phase is to be.
	spec    func(*subject.Spec)
	servers [][]string
	// bring ends the phase; it reports whether the phase had anything to leave.
	bring func(context.Context, *driver, *phase) bool
}

// moment is the time within which a phase comes up and its servers are stopped.
const moment = 150 * time.Millisecond

var ends = []*end{
	{name: "SIGKILL at a random time", kills: true, bring: func(ctx context.Context, d *driver, p *phase) bool {
		pause(ctx, time.Duration(p.chance.Int64N(int64(moment))))
		return d.kill(p, p.cmd.Process.Pid)
	}},
	killAt(subject.EventMode), killAt(subject.EventServerStarted), killAt(subject.EventReady), killAt(subject.EventDecision),
	failing("SIGKILL at error", killAt(subject.EventError)),
	{name: "SIGKILL while it stops", kills: true, bring: func(ctx context.Context, d *driver, p *phase) bool {
		p.awaitEvent(ctx, subject.EventReady)
		_ = p.stdin.Close() // the agent ends
		p.awaitEvent(ctx, subject.EventServerStopped)
		return d.kill(p, p.cmd.Process.Pid)
	}},
	{name: "SIGKILL of its process group", kills: true, bring: func(ctx context.Context, d *driver, p *phase) bool {
		pause(ctx, time.Duration(p.chance.Int64N(int64(moment))))
		return d.kill(p, -p.cmd.Process.Pid)
	}},
	{name: "SIGKILL of it and one more of its processes", kills: true, alone: true, bring: func(ctx context.Context, d *driver, p *phase) bool {
		pause(ctx, time.Duration(p.chance.Int64N(int64(moment))))
		if children := childrenOf(p.cmd.Process.Pid); len(children) > 0 {
			_ = syscall.Kill(children[p.chance.IntN(len(children))], syscall.SIGKILL) // it may have ended
		}
		return d.kill(p, p.cmd.Process.Pid)
	}},
	signals("SIGTERM", syscall.SIGTERM), signals("SIGINT twice", syscall.SIGINT, syscall.SIGINT), signals("SIGHUP", syscall.SIGHUP),
	{name: "the agent ends", bring: func(ctx context.Context, _ *driver, p *phase) bool {
		p.awaitEvent(ctx, subject.EventReady)
		return p.stdin.Close() == nil
	}},
	{name: "quit", bring: func(ctx context.Context, _ *driver, p *phase) bool {
		p.awaitEvent(ctx, subject.EventReady)
		_, err := fmt.Fprintln(p.control, `{"id":1,"op":"stop-all"}`+"\n"+`{"id":2,"op":"quit"}`)
		return err == nil
	}},
	{name: "the control stream ends", bring: func(ctx context.Context, _ *driver, p *phase) bool {
		pause(ctx, time.Duration(p.chance.Int64N(int64(moment))))
		return p.control.Close() == nil
	}},
	{
		name: "it runs out of time", spec: func(s *subject.Spec) { s.Timeouts = &subject.Timeouts{PhaseMS: 120} },
		bring: func(context.Context, *driver, *phase) bool { return true },
	},
	failing("a server does not start", &end{bring: func(context.Context, *driver, *phase) bool { return true }}),
}

// quiet is a phase that only starts and ends, after one that lost more than its
// own process.
var quiet = &end{name: "quiet", servers: [][]string{{}}, bring: func(ctx context.Context, _ *driver, p *phase) bool {
	p.awaitEvent(ctx, subject.EventReady)
	return p.stdin.Close() == nil
}}

// failing is an end of a phase whose servers do not all start, in time or at all.
func failing(name string, e *end) *end {
	e.name, e.servers = name, broken
	e.spec = func(s *subject.Spec) { s.Timeouts = &subject.Timeouts{PhaseMS: 400} }
	return e
}

func killAt(event string) *end {
	return &end{name: "SIGKILL at " + event, kills: true, bring: func(ctx context.Context, d *driver, p *phase) bool {
		p.awaitEvent(ctx, event)
		return d.kill(p, p.cmd.Process.Pid)
	}}
}

func signals(name string, all ...syscall.Signal) *end {
	return &end{name: name, bring: func(ctx context.Context, _ *driver, p *phase) bool {
		pause(ctx, time.Duration(p.chance.Int64N(int64(moment))))
		for _, s := range all {
			_ = p.cmd.Process.Signal(s) // it may have ended
		}
		return true
	}}
}

// kill kills, and reports whether there was more than the subject's own process.
func (d *driver) kill(p *phase, pid int) bool {
	more := len(childrenOf(p.cmd.Process.Pid)) > 0 || len(files(filepath.Dir(p.events))) > 0
	_ = syscall.Kill(pid, syscall.SIGKILL)
	return more
}

// childrenOf gives the processes that a process has started, proc_pid_stat(5).
func childrenOf(parent int) (all []int) {
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
			continue
		}
		after := strings.Fields(string(stat[bytes.LastIndexByte(stat, ')')+1:]))
		if len(after) > 1 && after[1] == strconv.Itoa(parent) {
			all = append(all, pid)
		}
	}
	return all
}
