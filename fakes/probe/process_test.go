package probe_test

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"bridgecheck/fakes/attempt"
	"bridgecheck/fakes/content"
)

func TestSpawnAndSignal(t *testing.T) {
	a := start(t, "bare", true)
	mark := fmt.Sprintf("spawn-%d", os.Getpid())
	for _, kind := range []string{"child", "double-fork", "setsid", "hold-pipe"} {
		o := a.must(attempt.Attempt{Op: attempt.OpSpawn, Args: []string{kind, mark}, Count: 2})
		if len(o.Names) != 2 {
			t.Fatalf("%s: %+v", kind, o)
		}
		for _, pid := range o.Names {
			args, err := os.ReadFile("/proc/" + pid + "/cmdline")
			if err != nil || !strings.Contains(string(args), mark) {
				t.Errorf("%s: %q, %v", kind, args, err)
			}
			var number int
			_, _ = fmt.Sscan(pid, &number)
			a.must(attempt.Attempt{Op: attempt.OpPtrace, PID: number})
			a.must(attempt.Attempt{Op: attempt.OpSignal, PID: number})
			a.must(attempt.Attempt{Op: attempt.OpSignal, PID: number, Code: int(syscall.SIGKILL)})
		}
	}
	if o := a.do(attempt.Attempt{Op: attempt.OpSpawn, Args: []string{"clone"}}); o.Refused == "" {
		t.Errorf("%+v", o)
	}
	a.want("ESRCH", attempt.Attempt{Op: attempt.OpSignal, PID: 1 << 22})
	a.want("ESRCH", attempt.Attempt{Op: attempt.OpPtrace, PID: 1 << 22})
}

func TestRun(t *testing.T) {
	shell, err := exec.LookPath("sh")
	if err != nil {
		t.Skip("no shell here")
	}
	a := start(t, "bare", true)
	run := func(script string) attempt.Attempt {
		return attempt.Attempt{Op: attempt.OpRun, Path: shell, Args: []string{"-c", script}, TimeoutMS: 5000}
	}
	if o := a.must(run("echo out; echo err >&2; exit 3")); o.Value != 3 || o.Text != "out\nerr\n" {
		t.Errorf("%+v", o)
	}
	fed := run("cat")
	fed.Data = []byte("fed")
	if o := a.must(fed); o.Text != "fed" {
		t.Errorf("%+v", o)
	}
	if o := a.want("other", run("kill -9 $$")); o.Value != 137 {
		t.Errorf("%+v", o)
	}
	sleepy := run("sleep 60")
	sleepy.TimeoutMS = 100
	a.want("timeout", sleepy)
	a.want("ENOENT", attempt.Attempt{Op: attempt.OpRun, Path: "/nowhere"})
	a.want("EACCES", attempt.Attempt{Op: attempt.OpRun, Path: "/dev/null"})
}

func TestExit(t *testing.T) {
	for _, c := range []struct {
		att    attempt.Attempt
		code   int
		signal syscall.Signal
	}{
		{attempt.Attempt{}, 0, 0},
		{attempt.Attempt{Code: 42}, 42, 0},
		{attempt.Attempt{Call: "SIGTERM"}, 0, syscall.SIGTERM},
		{attempt.Attempt{Call: "SIGSEGV"}, 0, syscall.SIGSEGV},
		{attempt.Attempt{Call: "9"}, 0, syscall.SIGKILL},
	} {
		a := start(t, "bare", false)
		c.att.Op = attempt.OpExit
		a.must(c.att)
		err := a.cmd.Wait()
		if exit, ok := errors.AsType[*exec.ExitError](err); ok {
			status := exit.Sys().(syscall.WaitStatus)
			if status.Signaled() && status.Signal() == c.signal || status.Exited() && status.ExitStatus() == c.code {
				continue
			}
		}
		if err != nil || c.code != 0 || c.signal != 0 {
			t.Errorf("%+v: %v", c.att, err)
		}
	}
	a := start(t, "bare", false)
	if o := a.do(attempt.Attempt{Op: attempt.OpExit, Call: "SIGNOPE"}); o.Refused == "" {
		t.Errorf("%+v", o)
	}
}

func TestIgnore(t *testing.T) {
	a := start(t, "bare", false)
	a.must(attempt.Attempt{Op: attempt.OpIgnore, Call: "SIGTERM"})
	if err := a.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	a.must(attempt.Attempt{Op: attempt.OpFacts})
}

func TestStdio(t *testing.T) {
	a := start(t, "bare", false)
	const size = 300_000
	a.write(attempt.Attempt{ID: 1, Op: attempt.OpStdin, Size: size})
	go func() { _, _ = io.Copy(a.in, content.Reader(2, size)) }()
	if o := a.read(); o.SHA256 != content.SHA256(2, size) || o.Bytes != size {
		t.Errorf("stdin: %+v", o)
	}
	a.write(attempt.Attempt{ID: 2, Op: attempt.OpWrite, Args: []string{"stdout"}, Size: size, Seed: 3})
	var raw content.Digest
	_, _ = io.CopyN(&raw, a.out, size)
	if end, _ := a.out.ReadByte(); end != '\n' {
		t.Errorf("the raw bytes end in %q", end)
	}
	if o := a.read(); o.SHA256 != raw.SHA256() || raw.SHA256() != content.SHA256(3, size) {
		t.Errorf("stdout: %+v", o)
	}
	if o := a.must(attempt.Attempt{Op: attempt.OpWrite, Args: []string{"stderr"}, Size: 1000, Seed: 4}); o.Bytes != 1000 {
		t.Errorf("stderr: %+v", o)
	}
}

func TestFiles(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "f")
	if err := os.WriteFile(file, []byte("text"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mkfifo(filepath.Join(dir, "pipe"), 0o600); err != nil {
		t.Fatal(err)
	}
	a := start(t, "bare", true)
	if o := a.must(attempt.Attempt{Op: attempt.OpReadFile, Path: file}); o.Text != "text" || o.Bytes != 4 {
		t.Errorf("%+v", o)
	}
	if o := a.must(attempt.Attempt{Op: attempt.OpListDir, Path: dir}); fmt.Sprint(o.Names) != "[f pipe]" {
		t.Errorf("%+v", o)
	}
	open := func(path string, args ...string) attempt.Attempt {
		return attempt.Attempt{Op: attempt.OpOpen, Path: path, Args: args}
	}
	a.must(open(file, "rw"))
	a.must(open(filepath.Join(dir, "pipe"), "r"))
	a.want("ENXIO", open(filepath.Join(dir, "pipe"), "w")) // at once, though nobody reads
	a.want("EEXIST", open(file, "w", "create"))
	a.must(open(filepath.Join(dir, "new"), "w", "create"))
	a.want("ENOENT", open(filepath.Join(dir, "new"), "r")) // gone again
	a.want("EISDIR", open(dir, "w"))
	if text, _ := os.ReadFile(file); string(text) != "text" {
		t.Errorf("the file was changed: %q", text)
	}
	if o := a.do(open(file, "truncate")); o.Refused == "" {
		t.Errorf("%+v", o)
	}
}

func TestSetLinkLeavesThingsAsTheyWere(t *testing.T) {
	a := start(t, "lab", true)
	links := func() string { return fmt.Sprint(a.must(attempt.Attempt{Op: attempt.OpFacts}).Facts.Interfaces) }
	before := links()
	a.must(attempt.Attempt{Op: attempt.OpSetLink, Address: "lo", Args: []string{"down"}})
	a.must(attempt.Attempt{Op: attempt.OpSetLink, Address: "lo", Args: []string{"down-ioctl"}})
	a.must(attempt.Attempt{Op: attempt.OpSetLink, Address: "lo", Args: []string{"add-address"}})
	for _, kind := range []string{"add-dummy", "add-veth"} {
		if o := a.do(attempt.Attempt{Op: attempt.OpSetLink, Address: "probe0", Args: []string{kind}}); o.Errno != "" && o.Errno != "EOPNOTSUPP" {
			t.Errorf("%+v", o) // the kernel may lack the driver
		}
	}
	if after := links(); after != before {
		t.Errorf("before %s, after %s", before, after)
	}
	a.want("other", attempt.Attempt{Op: attempt.OpSetLink, Address: "none0", Args: []string{"down"}})
	a.want("ENODEV", attempt.Attempt{Op: attempt.OpSetLink, Address: "none0", Args: []string{"down-ioctl"}})
}

func TestCalls(t *testing.T) {
	a := start(t, "bare", true)
	for _, name := range []string{
		"unshare", "setns", "clone", "clone3", "chroot", "pidfd_open", "pidfd_getfd", "process_vm_readv",
		"process_vm_writev", "kill", "ptrace", "socket", "ioctl",
	} {
		if o := a.do(attempt.Attempt{Op: attempt.OpCall, Call: name}); o.Text != "passed" || o.Refused != "" {
			t.Errorf("%s: refused %q, %s %s", name, o.Refused, o.Errno, o.Error)
		}
	}
	// These depend on the kernel; they must only do no harm and be told.
	for _, name := range []string{
		"mount", "pivot_root", "io_uring_setup", "keyctl", "add_key", "bpf", "perf_event_open", "userfaultfd",
		"syslog", "socket-x32", "unshare-x32", "socket-int80", "unshare-int80",
	} {
		if o := a.do(attempt.Attempt{Op: attempt.OpCall, Call: name}); o.Refused != "" && !strings.Contains(o.Refused, "does not exist") {
			t.Errorf("%s: %s", name, o.Refused)
		}
	}
	a.want("EINVAL", attempt.Attempt{Op: attempt.OpCall, Call: "unshare", Words: []uint64{1}})
	a.want("ESRCH", attempt.Attempt{Op: attempt.OpCall, Call: "pidfd_open", PID: 1 << 22})
	a.must(attempt.Attempt{Op: attempt.OpSocket, Words: []uint64{syscall.AF_UNIX, syscall.SOCK_STREAM, 0}})
	a.want("EAFNOSUPPORT", attempt.Attempt{Op: attempt.OpSocket, Words: []uint64{200, syscall.SOCK_STREAM, 0}})
	if o := a.do(attempt.Attempt{Op: attempt.OpCall, Call: "reboot"}); o.Refused == "" {
		t.Errorf("%+v", o)
	}
	// The namespaces of the probe are what they were: all happened in children.
	facts := a.must(attempt.Attempt{Op: attempt.OpFacts}).Facts
	if again := a.must(attempt.Attempt{Op: attempt.OpFacts}).Facts; fmt.Sprint(again.Namespaces) != fmt.Sprint(facts.Namespaces) {
		t.Error("namespaces changed")
	}
}
