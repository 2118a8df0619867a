package trace_test

import (
	"bufio"
	"errors"
	"io"
	"net"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"

	"go.uber.org/goleak"
	"golang.org/x/sys/unix"

	"bridgecheck/fakes/trace"
)

// The test binary is also what is watched (it makes a few calls for each line that
// it reads, on a thread and in a child as well), and what watches.
const (
	watched = "watched"
	watches = "watches"
)

func TestMain(m *testing.M) {
	switch {
	case len(os.Args) > 1 && os.Args[1] == watched:
		attempts()
		unix.Exit(0) // the exit of the race detector takes a second
	case len(os.Args) > 2 && os.Args[1] == watches:
		pid, err := strconv.Atoi(os.Args[2])
		if err != nil {
			panic(err)
		}
		unix.Exit(trace.Main(pid, os.Stdin, os.Stdout, os.Stderr))
	default:
		goleak.VerifyTestMain(m)
	}
}

func attempts() {
	for lines := bufio.NewScanner(os.Stdin); lines.Scan(); {
		_, _ = os.Open("/nonexistent/" + lines.Text())
		done := make(chan struct{})
		go func() {
			defer close(done)
			runtime.LockOSThread() // a thread of its own, which ends
			_, _ = net.Dial("unix", "/nonexistent/socket")
			_, _ = net.Dial("tcp", "127.0.0.1:1")
			_, _ = net.Dial("tcp", "[::1]:1")
			fd, err := unix.Socket(unix.AF_UNIX, unix.SOCK_STREAM, 0)
			if err == nil {
				_ = unix.Connect(fd, &unix.SockaddrUnix{Name: "@nobody"})
				_ = unix.Close(fd)
			}
			_, _, _ = unix.Syscall(unix.SYS_IOCTL, 0, 1<<32|unix.TIOCSTI, 0)
		}()
		<-done
		_ = exec.Command("/bin/sh", "-c", ": </nonexistent/in-a-child").Run()
		_, _ = os.Stdout.WriteString("done\n")
	}
}

func start(t *testing.T) (*exec.Cmd, func(order string)) {
	t.Helper()
	cmd := exec.Command("/proc/self/exe", watched)
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		in.Close()
		if err := cmd.Wait(); err != nil {
			t.Errorf("the process that was watched: %v", err)
		}
	})
	lines := bufio.NewReader(out)
	return cmd, func(order string) {
		t.Helper()
		if _, err := io.WriteString(in, order+"\n"); err != nil {
			t.Fatal(err)
		}
		if line, err := lines.ReadString('\n'); err != nil || line != "done\n" {
			t.Fatalf("the process said %q: %v", line, err)
		}
	}
}

// watch begins to watch a process; stop gives what has been seen since.
func watch(t *testing.T, pid int) (stop func() []string, err error) {
	t.Helper()
	cmd := exec.Command("/proc/self/exe", watches, strconv.Itoa(pid))
	var errs strings.Builder
	cmd.Stderr = &errs
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(out)
	if !lines.Scan() || lines.Text() != trace.Begun {
		in.Close()
		_ = cmd.Wait()
		return nil, errors.New(errs.String())
	}
	return func() (seen []string) {
		t.Helper()
		in.Close()
		for lines.Scan() {
			seen = append(seen, lines.Text())
		}
		if err := cmd.Wait(); err != nil {
			t.Errorf("who watches: %v %s", err, &errs)
		}
		return seen
	}, nil
}

// TestWatch sees what threads and children ask and are answered, between begin
// and end alone, and leaves the process as it was.
func TestWatch(t *testing.T) {
	cmd, order := start(t)
	order("before")
	stop, err := watch(t, cmd.Process.Pid)
	if err != nil {
		t.Skipf("this host does not let one process watch another: %v", err)
	}
	order("meanwhile")
	lines := stop()
	order("afterwards")

	for _, want := range []string{
		`openat(`, `"/nonexistent/meanwhile"`, `ENOENT`,
		`{AF_UNIX "/nonexistent/socket"}`, `{AF_INET 127.0.0.1:1}`, `{AF_UNIX @"nobody"}`,
		`0x100005412`, `"/nonexistent/in-a-child"`, `execve("/bin/sh"`,
	} {
		if !slices.ContainsFunc(lines, func(l string) bool { return strings.Contains(l, want) }) {
			t.Errorf("no call shows %s:\n%s", want, strings.Join(lines, "\n"))
		}
	}
	for _, line := range lines {
		if strings.Contains(line, "before") || strings.Contains(line, "afterwards") {
			t.Errorf("a call from outside the time: %s", line)
		}
		if !strings.Contains(line, ") = ") {
			t.Errorf("a call without its answer: %s", line)
		}
	}
}

// TestNobody: a process that has ended is said to be none.
func TestNobody(t *testing.T) {
	cmd := exec.Command("/proc/self/exe", watched)
	if err := cmd.Run(); err != nil { // its input is empty
		t.Fatal(err)
	}
	if _, err := watch(t, cmd.Process.Pid); err == nil || !strings.Contains(err.Error(), "no such file") {
		t.Errorf("got %v", err)
	}
}

// TestEnds: a process that ends while it is watched is still its parent's to
// wait for, and who watches ends too.
func TestEnds(t *testing.T) {
	cmd := exec.Command("/proc/self/exe", watched)
	in, err := cmd.StdinPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	stop, err := watch(t, cmd.Process.Pid)
	in.Close()
	if waited := cmd.Wait(); waited != nil {
		t.Errorf("wait: %v", waited)
	}
	if err != nil {
		t.Skipf("this host does not let one process watch another: %v", err)
	}
	stop()
}
