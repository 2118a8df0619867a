package sandbox_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"
	"golang.org/x/sys/unix"

	"bridgecheck/ref/sandbox"
)

// The test binary is also the agent: executed with a role as its first
// argument, it is that role.
func TestMain(m *testing.M) {
	sandbox.Main()
	if len(os.Args) > 1 {
		if role, ok := roles[os.Args[1]]; ok {
			unix.Exit(role(os.Args[2:])) // the race detector's exit takes a second
		}
	}
	goleak.VerifyTestMain(m)
}

// limit bounds one sandbox of a test; the usual one takes 20 ms.
const limit = 20 * time.Second

func context20(t *testing.T) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), limit)
	t.Cleanup(cancel)
	return ctx
}

// requireNamespaces skips where this host makes no user and network namespace.
var requireNamespaces = sync.OnceValue(func() string {
	s, err := sandbox.Launch(context.Background(), sandbox.Spec{Path: "/bin/true"})
	if err != nil {
		return err.Error()
	}
	_ = s.Kill()
	_, _ = s.Wait()
	return ""
})

func needNamespaces(t *testing.T) {
	t.Helper()
	if why := requireNamespaces(); why != "" {
		t.Skip("this host does not make the namespaces: " + why)
	}
}

func self(t *testing.T) string {
	t.Helper()
	p, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// role is a Spec that runs this binary as one of roles.
func role(t *testing.T, name string, args ...string) sandbox.Spec {
	t.Helper()
	return sandbox.Spec{
		Path: self(t), Args: append([]string{name}, args...), Env: []string{"PATH=/usr/bin:/bin"},
		Landlock: true,
	}
}

// shell is a Spec that runs a line of sh.
func shell(line string) sandbox.Spec {
	return sandbox.Spec{Path: "/bin/sh", Args: []string{"-c", line}, Env: []string{"PATH=/usr/bin:/bin"}, Landlock: true}
}

func launch(t *testing.T, spec sandbox.Spec) *sandbox.Sandbox {
	t.Helper()
	s, err := sandbox.Launch(context20(t), spec)
	if err != nil {
		t.Fatalf("launch: %v", err)
	}
	t.Cleanup(func() {
		if err := s.Kill(); err != nil {
			t.Errorf("kill: %v", err)
		}
		_, _ = s.Wait()
	})
	return s
}

// output is what the agent wrote, to be read when it has ended.
type output struct {
	done chan struct{}
	buf  bytes.Buffer
}

func (o *output) String() string {
	<-o.done
	return o.buf.String()
}

// capture gives the write end of a pipe whose other end is read until all
// writers are gone.
func capture(t *testing.T) (*os.File, *output) {
	t.Helper()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	o := &output{done: make(chan struct{})}
	go func() {
		defer close(o.done)
		defer r.Close()
		_, _ = io.Copy(&o.buf, r)
	}()
	t.Cleanup(func() { w.Close() })
	return w, o
}

// run launches, starts and waits, and gives both streams together.
func run(t *testing.T, spec sandbox.Spec) (string, sandbox.Exit) {
	t.Helper()
	w, out := capture(t)
	spec.Stdout, spec.Stderr = w, w
	s := launch(t, spec)
	if err := s.Start(); err != nil {
		t.Fatalf("start: %v", err)
	}
	w.Close()
	exit, err := s.Wait()
	if err != nil {
		t.Fatalf("wait: %v (output %q)", err, out.String())
	}
	return out.String(), exit
}

// lines splits "name=value" output into a map.
func facts(out string) map[string]string {
	all := map[string]string{}
	for line := range strings.Lines(out) {
		name, value, _ := strings.Cut(strings.TrimSpace(line), "=")
		all[name] = value
	}
	return all
}

// errno prints an error as its number's name, or ok.
func errno(err error) string {
	if err == nil {
		return "ok"
	}
	for e, name := range map[syscall.Errno]string{
		syscall.EPERM: "EPERM", syscall.EACCES: "EACCES", syscall.ENOENT: "ENOENT", syscall.ENOSYS: "ENOSYS",
		syscall.EROFS: "EROFS", syscall.EAFNOSUPPORT: "EAFNOSUPPORT", syscall.ENETUNREACH: "ENETUNREACH",
		syscall.EADDRINUSE: "EADDRINUSE", syscall.ECONNREFUSED: "ECONNREFUSED", syscall.ENXIO: "ENXIO",
		syscall.EBADF: "EBADF", syscall.ESRCH: "ESRCH", syscall.EINVAL: "EINVAL", syscall.ENOTTY: "ENOTTY",
		syscall.EADDRNOTAVAIL: "EADDRNOTAVAIL", syscall.EAGAIN: "EAGAIN", syscall.ENOMEM: "ENOMEM", syscall.EMFILE: "EMFILE",
	} {
		if asErrno(err) == e {
			return name
		}
	}
	return fmt.Sprint(err)
}
