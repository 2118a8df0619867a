package agents

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/sys/unix"

	"bridgecheck/fakes/attempt"
	"bridgecheck/suites/catalog"
	"bridgecheck/suites/kit"
	"bridgecheck/suites/subject"
)

var _ = kit.Table(catalog.Case{
	ID:     "AGT-006",
	Title:  "lets the programs start that agents work with",
	Must:   "Under each seccomp profile bash, Node, Python, git and curl MUST start and do a small piece of real work, and the system calls that they need for it MUST be allowed.",
	Level:  catalog.Interoperability,
	Clause: "10.6",
	Needs:  []subject.Capability{subject.Seccomp},
	Host:   []catalog.HostFact{catalog.HostUserNS},
	Faults: []string{"socketpair-refused", "strict-for-baseline", "dev-fd-missing", "dev-shm-missing"},
	Why:    "A sandbox in which the tools of an agent break is switched off.",
}, inEachProfile(), func(ctx context.Context, t *kit.T, w work) { w.do(ctx, t) })

// program is one that is looked for on the host of the cell, and what it is to
// do. $URL in it is an address of the check's own.
type program struct {
	name string
	args []string
	says string
	// baseline is what it can do in the wider profile alone, and then says.
	baseline []string
	// fetches: it needs the proxy.
	fetches bool
}

var programs = []program{
	{name: "bash", says: "b3", args: []string{"-c", `
		set -e; cd "$(mktemp -d -p /tmp)"
		x=$(printf a | tr a b); (exit 3) & wait $! || printf '%s%s\n' "$x" $? >file; read -r said < <(cat file); echo "$said"`}},
	{
		name: "node", says: "child worker served", args: []string{"-e", `
		const { spawn } = require('child_process'), { Worker } = require('worker_threads'), http = require('http');
		const child = new Promise(r => { const c = spawn('cat'); let s = ''; c.stdout.on('data', d => s += d); c.on('close', () => r(s)); c.stdin.end('child'); });
		const worker = new Promise(r => new Worker("require('worker_threads').parentPort.postMessage('worker')", { eval: true }).on('message', r));
		const served = new Promise(r => { const s = http.createServer((q, a) => a.end('served')).listen(0, '127.0.0.1', () =>
			http.get({ host: '127.0.0.1', port: s.address().port, agent: false }, a => { let b = ''; a.on('data', d => b += d); a.on('end', () => { s.close(); r(b); }); })); });
		Promise.all([child, worker, served]).then(all => console.log(all.join(' ')));`},
		baseline: []string{"-e", `console.log(Object.keys(require('os').networkInterfaces()).length > 0 ? 'interfaces' : 'none')`},
	},
	{
		name: "python3", says: "child pool thread", args: []string{"-c", `
import asyncio, multiprocessing, threading
async def child():
    p = await asyncio.create_subprocess_exec('cat', stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE)
    return (await p.communicate(b'child'))[0].decode()
if __name__ == '__main__':
    said = [asyncio.run(child())]
    with multiprocessing.get_context('fork').Pool(2) as pool:
        said += pool.map(str, ['pool'])
    t = threading.Thread(target=said.append, args=['thread']); t.start(); t.join()
    print(*said)`},
		baseline: []string{"-c", `import socket; print('interfaces' if socket.if_nameindex() else 'none')`},
	},
	{name: "git", says: "committed", args: []string{
		"-c", "alias.work=!f() { d=$(mktemp -d -p /tmp) && git init -q $d && cd $d && echo x >file && git add file && git -c user.name=n -c user.email=n@example.test commit -qm committed && git clone -q . copy && git -C copy log --format=%s; }; f", "work",
	}},
	{name: "curl", says: "200", fetches: true, args: []string{"-sS", "-o", "/dev/null", "-w", "%{http_code}\n", "$URL"}},
}

// work is a program, or the calls alone, under one profile.
type work struct {
	profile string
	program *program // nil: the calls
}

func (w work) do(ctx context.Context, t *kit.T) {
	if w.program == nil {
		allowed(ctx, t, w.profile)
		return
	}
	w.runs(ctx, t)
}

func inEachProfile() []kit.Row[work] {
	var all []kit.Row[work]
	for _, profile := range []string{"baseline", "strict"} {
		all = append(all, kit.Row[work]{Name: "calls-" + profile, Value: work{profile: profile}})
		for i := range programs {
			all = append(all, kit.Row[work]{Name: programs[i].name + "-" + profile, Value: work{profile, &programs[i]}})
		}
	}
	return all
}

// systemFolders hold programs and what they load; links such as /bin count by
// what they lead to.
var systemFolders = []string{"/usr", "/bin", "/sbin", "/lib", "/lib64"}

// find gives the path of a program of the host, and the folders it needs. One
// that lies elsewhere, in somebody's home, is not looked for.
func find(name string) (path string, folders []string) {
	for _, dir := range []string{"/usr/local/bin", "/usr/bin", "/bin"} {
		candidate := filepath.Join(dir, name)
		real, err := filepath.EvalSymlinks(candidate)
		if err != nil || !strings.HasPrefix(real, "/usr/") && !strings.HasPrefix(real, "/bin/") {
			continue
		}
		if _, err := exec.LookPath(candidate); err == nil {
			path = candidate
			break
		}
	}
	for _, folder := range systemFolders {
		if _, err := os.Stat(folder); err == nil {
			folders = append(folders, folder)
		}
	}
	return path, folders
}

func (w work) runs(ctx context.Context, t *kit.T) {
	path, folders := find(w.program.name)
	if path == "" {
		t.NotApplicable("the host of this cell has no %s", w.program.name)
	}
	spec := subject.Spec{Seccomp: w.profile, Paths: &subject.Paths{RO: folders}}
	direct, named := "", ""
	if w.program.fetches {
		t.Require(subject.AbsoluteForm)
		server := t.HTTP()
		spec.Allow = []subject.Rule{server.Rule()}
		direct, named = "http://"+server.Addr().String()+"/", server.URL()
	}
	// What both write goes to /tmp: the TMPDIR of the harness need not be there.
	t.Control("outside it works", run(ctx, t.Outside(ctx), path, w.program.args, direct), kit.Be(w.program.says))
	phase := t.Start(ctx, spec)
	phase.Honoured(ctx, "paths")
	agent := phase.Agent
	t.Attempt("the same in the sandbox", run(ctx, agent, path, w.program.args, named), kit.Be(w.program.says))
	if w.program.baseline != nil && w.profile == "baseline" {
		t.Control("outside it sees interfaces", run(ctx, t.Outside(ctx), path, w.program.baseline, ""), kit.Be("interfaces"))
		t.Attempt("the same in the sandbox", run(ctx, agent, path, w.program.baseline, ""), kit.Be("interfaces"))
	}
}

// run gives what the program says, or how it failed.
func run(ctx context.Context, a *kit.Agent, path string, args []string, url string) string {
	args = slices.Clone(args)
	for i := range args {
		args[i] = strings.ReplaceAll(args[i], "$URL", url)
	}
	o := a.Do(ctx, attempt.Attempt{Op: attempt.OpRun, Path: path, Args: args, TimeoutMS: 20_000})
	if o.Value != 0 || o.Errno != "" {
		return strings.TrimSpace(o.Errno + " " + o.Error + " " + o.Text)
	}
	return strings.TrimSpace(o.Text)
}

// needed are calls that the runtimes begin with: a pair of sockets between
// parent and child, asynchronous work, and, in the wider profile, a look at the
// interfaces.
func needed(profile string) map[string]attempt.Attempt {
	call := func(name string, words ...uint64) attempt.Attempt {
		return attempt.Attempt{Op: attempt.OpCall, Call: name, Words: words}
	}
	all := map[string]attempt.Attempt{
		"socketpair, stream":   call("socketpair", unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC),
		"socketpair, datagram": call("socketpair", unix.AF_UNIX, unix.SOCK_DGRAM),
		"socket of its own":    call("socket", unix.AF_UNIX, unix.SOCK_STREAM),
		"pidfd_open":           call("pidfd_open"),
	}
	if profile == "baseline" {
		all["netlink, routes"] = call("socket", unix.AF_NETLINK, unix.SOCK_RAW, unix.NETLINK_ROUTE)
	}
	return all
}

func allowed(ctx context.Context, t *kit.T, profile string) {
	agent := t.Start(ctx, subject.Spec{Seccomp: profile}).Agent
	for _, where := range []string{"/tmp/", "@"} {
		address := where + "ipc-" + t.Unique()
		t.Control("outside: two sockets meet at "+address, meet(ctx, t.Outside(ctx), address), kit.HaveData("ping"))
		t.Attempt("in the sandbox: the same", meet(ctx, agent, address), kit.HaveData("ping"))
	}
	for name, a := range needed(profile) {
		t.Control("outside: "+name, t.Outside(ctx).Do(ctx, a), kit.HaveText("passed"))
		t.Attempt("in the sandbox: "+name, agent.Do(ctx, a), kit.HaveText("passed"))
	}
}

// meet is what a runtime's processes do to talk with each other: one listens on a
// Unix socket, another connects.
func meet(ctx context.Context, a *kit.Agent, address string) attempt.Observation {
	listening := a.Do(ctx, attempt.Attempt{Op: attempt.OpListen, Network: "unix", Address: address, Conn: address})
	if listening.Errno != "" {
		return listening
	}
	answer := a.Do(ctx, attempt.Attempt{Op: attempt.OpDial, Network: "unix", Address: address, Data: []byte("ping"), Until: "size", Size: 4})
	a.Close(ctx, address)
	return answer
}
