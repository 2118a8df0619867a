package sandbox_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"bridgecheck/ref/sandbox"
)

// Over-blocking is a fault too: what agents are written in and what they call
// works under the baseline.
func TestPrograms(t *testing.T) {
	needNamespaces(t)
	for _, row := range []struct{ name, program, line, want string }{
		{"bash", "bash", `f() { echo $((6*7)); }; cat <(f); echo x | while read y; do echo $y; done; : > /tmp/a; ls /tmp`, "42\nx\na\n"},
		{"job control", "bash", `set -m; { sleep 100 & kill %1; wait %1; } 2>/dev/null; echo $?`, "143\n"},
		{"node", "node", `node -e '
			const cp = require("child_process"), {Worker} = require("worker_threads"), http = require("http"), fs = require("fs");
			fs.writeFileSync("/tmp/x", "1");
			new Worker("process.exit(0)", {eval: true}).on("exit", () => {
				const s = http.createServer((q, r) => r.end("served")).listen(0, "127.0.0.1", () =>
					http.get({port: s.address().port}, r => r.on("data", d => {
						console.log(String(d), String(cp.spawnSync("/bin/echo", ["spawned"]).stdout).trim(), require("os").networkInterfaces().lo.length > 0);
						s.close();
					})));
			});'`, "served spawned true\n"},
		{"node on a unix socket", "node", `node -e '
			const net = require("net");
			const s = net.createServer(c => c.end("hi")).listen("/tmp/s", () => net.connect("/tmp/s").on("data", d => { console.log(String(d)); s.close(); }));'`, "hi\n"},
		{"python", "/usr/bin/python3", `/usr/bin/python3 -c '
import asyncio, multiprocessing, subprocess, tempfile, threading, socket
async def main():
    p = await asyncio.create_subprocess_exec("/bin/echo", "spawned", stdout=asyncio.subprocess.PIPE)
    return (await p.communicate())[0].decode().strip()
if __name__ == "__main__":
    with multiprocessing.get_context("fork").Pool(2) as pool:
        squares = pool.map(abs, [-1, -2])
    tempfile.TemporaryFile().write(b"x")
    print(asyncio.run(main()), squares, socket.if_nameindex())'`, "spawned [1, 2] [(1, 'lo')]\n"},
		{"git", "git", `cd /tmp && git init -q r && cd r && git -c user.name=n -c user.email=e commit -q --allow-empty -m first && git log --format=%s`, "first\n"},
		{"curl", "curl", `curl -s -o /dev/null --max-time 5 http://127.0.0.1:1/; echo $?`, "7\n"},
		{"gcc", "gcc", `cd /tmp && echo 'int main(void){return 5;}' > a.c && gcc -o a a.c && ./a; echo $?`, "5\n"},
		{"script", "script", `script -qec 'test -t 1 && echo terminal' /dev/null | tr -d '\r'`, "terminal\n"},
	} {
		t.Run(row.name, func(t *testing.T) {
			if _, err := exec.LookPath(row.program); err != nil {
				t.Skipf("no %s here", row.program)
			}
			spec := shell(row.line)
			spec.Path = "/bin/bash"
			spec.Env = []string{"PATH=/usr/bin:/bin", "HOME=/tmp", "LANG=C.UTF-8"}
			if out, exit := run(t, spec); out != row.want || exit != (sandbox.Exit{}) {
				t.Errorf("got %q, %+v, want %q", out, exit, row.want)
			}
		})
	}
}

// The Go tool compiles and runs; it is given the compiled standard library.
func TestGoRun(t *testing.T) {
	needNamespaces(t)
	tool, err := exec.LookPath("go")
	if err != nil {
		t.Skip("no go here")
	}
	env, err := exec.Command(tool, "env", "GOROOT", "GOCACHE").Output()
	if err != nil {
		t.Skipf("go env: %v", err)
	}
	root, cache, _ := strings.Cut(strings.TrimSpace(string(env)), "\n")
	if err := os.MkdirAll(cache, 0o755); err != nil {
		t.Skipf("the build cache: %v", err)
	}
	file := filepath.Join(t.TempDir(), "hi.go")
	if err := os.WriteFile(file, []byte("package main\n\nfunc main() { println(6 * 7) }\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	spec := sandbox.Spec{
		Path: tool, Args: []string{"run", file}, RO: []string{root, file}, RW: []string{cache}, Landlock: true,
		Env: []string{"PATH=/usr/bin:/bin", "HOME=/tmp", "GOCACHE=" + cache, "GOROOT=" + root, "GOTOOLCHAIN=local", "GOFLAGS=-mod=mod", "CGO_ENABLED=0", "GOTELEMETRY=off"},
	}
	if out, exit := run(t, spec); strings.TrimSpace(out) != "42" || exit != (sandbox.Exit{}) {
		t.Errorf("got %q, %+v, want 42", out, exit)
	}
}

// Under the strict filter what does without netlink and debuggers still works.
func TestProgramsStrict(t *testing.T) {
	needNamespaces(t)
	for program, line := range map[string]string{
		"bash":   `echo $(echo fine)`,
		"node":   `node -e 'require("child_process").exec("echo fine", (e, out) => process.stdout.write(out))'`,
		"git":    `git init -q /tmp/r && git -C /tmp/r status --porcelain && echo fine`,
		"curl":   `curl -s file:///etc/passwd >/dev/null && echo fine`,
		"gcc":    `echo 'int main(void){return 0;}' > /tmp/a.c && gcc -o /tmp/a /tmp/a.c && /tmp/a && echo fine`,
		"script": `script -qec 'echo fine' /dev/null | tr -d '\r'`,
	} {
		if _, err := exec.LookPath(program); err != nil {
			t.Logf("no %s here", program)
			continue
		}
		spec := shell(line)
		spec.Path, spec.Seccomp = "/bin/bash", sandbox.Strict
		spec.Env = []string{"PATH=/usr/bin:/bin", "HOME=/tmp"}
		if out, exit := run(t, spec); out != "fine\n" || exit != (sandbox.Exit{}) {
			t.Errorf("%s: got %q, %+v", program, out, exit)
		}
	}
}

// The 32-bit entry of the kernel has other numbers: 359 is its socket.
func TestThirtyTwoBitEntry(t *testing.T) {
	needNamespaces(t)
	if _, err := exec.LookPath("gcc"); err != nil || runtime.GOARCH != "amd64" {
		t.Skip("no gcc for amd64 here")
	}
	dir := t.TempDir()
	program := filepath.Join(dir, "int80")
	const source = `#include <stdio.h>
int main(void) { long r; __asm__ volatile("int $0x80" : "=a"(r) : "a"(359), "b"(1), "c"(1), "d"(0) : "memory"); printf("%d\n", (int)r); return 0; }`
	if err := os.WriteFile(program+".c", []byte(source), 0o644); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command("gcc", "-o", program, program+".c").CombinedOutput(); err != nil {
		t.Skipf("gcc: %v: %s", err, out)
	}
	control, err := exec.Command(program).Output()
	if err != nil || strings.HasPrefix(string(control), "-") {
		t.Skipf("this kernel has no such entry: %q, %v", control, err)
	}
	if out, _ := run(t, sandbox.Spec{Path: program}); out != "-38\n" { // ENOSYS
		t.Errorf("got %q, want -38", out)
	}
}
