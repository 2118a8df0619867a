package relay

import (
	"context"
	"fmt"
	"net"

	"golang.org/x/sys/unix"

	"bridgecheck/fakes/attempt"
	"bridgecheck/suites/catalog"
	"bridgecheck/suites/kit"
	"bridgecheck/suites/subject"
)

var _ = kit.Table(catalog.Case{
	ID:     "RLY-008",
	Title:  "does not let the agent end, read or replace the relay",
	Must:   "The agent MUST NOT be able to kill, ptrace, read the memory of, or take the port from the relay.",
	Level:  catalog.Security,
	Clause: "4.8",
	Needs:  []subject.Capability{subject.NetNS, subject.Connect},
	Host:   []catalog.HostFact{catalog.HostUserNS},
	Faults: []string{"proxy-port-shared", "init-hears-signals", "init-traceable", "arapuca-ipv4-only"},
	Why:    "Who has the proxy's port is the proxy for every other process of the sandbox.",
}, []kit.Row[func(context.Context, *kit.T, *kit.Agent)]{
	{Name: "kill", Value: kill},
	{Name: "ptrace", Value: ptrace},
	{Name: "memory", Value: memory},
	{Name: "port", Value: takePort},
}, func(ctx context.Context, t *kit.T, attack func(context.Context, *kit.T, *kit.Agent)) {
	host := t.Echo()
	agent := t.Start(ctx, subject.Spec{Allow: []subject.Rule{host.Rule()}}).Agent
	t.Control("CONNECT before", agent.Connect(ctx, host.Authority()), kit.BeStatus(200))
	attack(ctx, t, agent)
	// What dies of a signal does not do so at once.
	for range after {
		t.Attempt("CONNECT after", agent.Connect(ctx, host.Authority()), kit.BeStatus(200))
	}
	t.FarSide("connections at the host", host.Heard(), kit.Be(1+after))
})

// after is how many tunnels are made when the attack is over.
const after = 30

// child starts a process that is the prober's own.
func child(ctx context.Context, t *kit.T, a *kit.Agent) int {
	started := a.Do(ctx, attempt.Attempt{Op: attempt.OpSpawn, Args: []string{"child"}})
	t.Control("a process of its own", started, kit.Succeed())
	return int(started.Value)
}

// deadly are signals that end a process which does not expect them. The first
// process of a PID namespace is not ended by SIGKILL from inside, but by any that
// it has a handler for, and runtimes bring handlers.
var deadly = []unix.Signal{unix.SIGTERM, unix.SIGHUP, unix.SIGINT, unix.SIGQUIT, unix.SIGSEGV, unix.SIGABRT, unix.SIGKILL}

// kill may succeed: what counts is that the proxy goes on.
func kill(ctx context.Context, t *kit.T, agent *kit.Agent) {
	signal := func(pid int, s unix.Signal) attempt.Observation {
		return agent.Do(ctx, attempt.Attempt{Op: attempt.OpSignal, PID: pid, Code: int(s)})
	}
	t.Control("it kills its own", signal(child(ctx, t, agent), unix.SIGKILL), kit.Succeed())
	for _, pid := range agent.Others(ctx) {
		for _, s := range deadly {
			signal(pid, s)
		}
	}
}

func ptrace(ctx context.Context, t *kit.T, agent *kit.Agent) {
	outside := t.Outside(ctx)
	t.Control("outside it attaches to its own", outside.Do(ctx, attempt.Attempt{Op: attempt.OpPtrace, PID: child(ctx, t, outside)}), kit.Succeed())
	for _, pid := range agent.Others(ctx) {
		t.Attempt(fmt.Sprintf("it attaches to process %d", pid), agent.Do(ctx, attempt.Attempt{Op: attempt.OpPtrace, PID: pid}), kit.HaveErrno("EPERM", "EACCES", "ESRCH"))
	}
}

func memory(ctx context.Context, t *kit.T, agent *kit.Agent) {
	outside := t.Outside(ctx)
	read := func(a *kit.Agent, pid int) attempt.Observation {
		return a.Do(ctx, attempt.Attempt{Op: attempt.OpOpen, Path: fmt.Sprintf("/proc/%d/mem", pid), Args: []string{"r"}})
	}
	t.Control("outside it opens the memory of its own", read(outside, child(ctx, t, outside)), kit.Succeed())
	for _, pid := range agent.Others(ctx) {
		t.Attempt(fmt.Sprintf("it opens the memory of process %d", pid), read(agent, pid), kit.HaveErrno("EPERM", "EACCES", "ENOENT", "ESRCH"))
	}
}

func takePort(ctx context.Context, t *kit.T, agent *kit.Agent) {
	listen := func(address, conn string, words ...string) attempt.Observation {
		return agent.Do(ctx, attempt.Attempt{Op: attempt.OpListen, Network: "tcp", Address: address, Conn: conn, Args: words})
	}
	t.Control("it listens on a free port", listen("127.0.0.1:0", "free"), kit.Succeed())
	_, proxy, err := net.SplitHostPort(agent.Proxy(ctx))
	t.Control("the proxy has a port", err, kit.Be(error(nil)))
	for _, host := range []string{"127.0.0.1", "0.0.0.0", "::1", "::"} {
		address := net.JoinHostPort(host, proxy)
		refused := kit.HaveErrno("EADDRINUSE", "EACCES", "EPERM", "EADDRNOTAVAIL", "EAFNOSUPPORT")
		t.Attempt("it listens on "+address, listen(address, "plain "+host), refused)
		t.Attempt("it shares "+address, listen(address, "shared "+host, "reuseport"), refused)
	}
}
