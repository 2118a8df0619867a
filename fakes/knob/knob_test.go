package knob_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"bridgecheck/fakes/knob"
)

// asKnob makes the test binary the program; asWitness makes it the command that
// tries what the knob is to deny.
const (
	asKnob    = "BRIDGECHECK_TEST_KNOB"
	asWitness = "witness"
)

func TestMain(m *testing.M) {
	switch {
	case len(os.Args) > 1 && os.Args[1] == asWitness:
		os.Exit(witness(os.Args[2]))
	case os.Getenv(asKnob) != "":
		code, err := knob.Run(os.Args[1:])
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			code = 96
		}
		os.Exit(code)
	}
	os.Exit(m.Run())
}

// witness says the errno of what it tries, 0 for success.
func witness(what string) int {
	switch what {
	case "user":
		return made(unix.CLONE_NEWUSER)
	case "net":
		return made(unix.CLONE_NEWUSER | unix.CLONE_NEWNET)
	case "pid":
		return made(unix.CLONE_NEWUSER | unix.CLONE_NEWPID)
	case "netlink":
		return code(open(unix.AF_NETLINK))
	case "inet6":
		return code(open(unix.AF_INET6))
	case "inet":
		return code(open(unix.AF_INET))
	case "landlock":
		_, _, errno := unix.Syscall(unix.SYS_LANDLOCK_CREATE_RULESET, 0, 0, unix.LANDLOCK_CREATE_RULESET_VERSION)
		return int(errno)
	case "lo-up":
		return code(loUp())
	case "term":
		_ = unix.Kill(os.Getpid(), unix.SIGTERM)
	case "exit-7":
		return 7
	case "pass":
		// Descriptor 5 is the caller's own.
		_, err := io.Copy(os.NewFile(5, "given"), os.Stdin)
		return code(err)
	}
	return 0
}

func code(err error) int {
	if errno, ok := errors.AsType[syscall.Errno](err); ok {
		return int(errno)
	}
	return 0
}

func open(family int) error {
	fd, err := unix.Socket(family, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err == nil {
		_ = unix.Close(fd)
	}
	return err
}

// loUp asks for lo to be as it is.
func loUp() error {
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer func() { _ = unix.Close(fd) }()
	lo, err := unix.NewIfreq("lo")
	if err != nil {
		return err
	}
	if err := unix.IoctlIfreq(fd, unix.SIOCGIFFLAGS, lo); err != nil {
		return err
	}
	return unix.IoctlIfreq(fd, unix.SIOCSIFFLAGS, lo)
}

func made(flags uintptr) int {
	cmd := exec.Command("/proc/self/exe", asWitness, "nothing")
	cmd.SysProcAttr = &syscall.SysProcAttr{
		Cloneflags:  flags,
		UidMappings: []syscall.SysProcIDMap{{ContainerID: os.Getuid(), HostID: os.Getuid(), Size: 1}},
		GidMappings: []syscall.SysProcIDMap{{ContainerID: os.Getgid(), HostID: os.Getgid(), Size: 1}},
	}
	return code(cmd.Run())
}

// under is the witness in the environment of a knob.
func under(t *testing.T, name, what string) *exec.Cmd {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(self, name, "--", self, asWitness, what)
	cmd.Env = append(os.Environ(), asKnob+"=1", "GORACE=atexit_sleep_ms=0", "TMPDIR="+t.TempDir())
	return cmd
}

func TestKnobs(t *testing.T) {
	if errno := made(unix.CLONE_NEWUSER | unix.CLONE_NEWNET); errno != 0 {
		t.Skipf("this host makes no namespaces: %s", syscall.Errno(errno))
	}
	for _, c := range []struct {
		knob, what string
		want       syscall.Errno
	}{
		{"max-user-ns=0", "user", unix.ENOSPC},
		{"max-user-ns=0", "inet", 0},
		{"max-net-ns=0", "net", unix.ENOSPC},
		{"max-net-ns=0", "user", 0},
		{"chroot", "user", unix.EPERM},
		{"chroot", "inet", 0},
		{"deny-userns", "user", unix.EPERM},
		{"deny-userns", "inet", 0},
		{"deny-netns", "net", unix.EPERM},
		{"deny-netns", "user", 0},
		{"deny-pidns", "pid", unix.EPERM},
		{"deny-pidns", "net", 0},
		{"deny-netlink", "netlink", unix.EPERM},
		{"deny-netlink", "lo-up", unix.EPERM},
		{"deny-netlink", "net", 0},
		{"no-landlock", "landlock", unix.ENOSYS},
		{"no-landlock", "net", 0},
		{"landlock-off", "landlock", unix.EOPNOTSUPP},
		{"landlock-off", "net", 0},
		{"no-ipv6", "inet6", unix.EAFNOSUPPORT},
		{"no-ipv6", "inet", 0},
	} {
		t.Run(c.knob+" "+c.what, func(t *testing.T) {
			cmd := under(t, c.knob, c.what)
			out, _ := cmd.CombinedOutput() // the exit code says all
			if got := syscall.Errno(cmd.ProcessState.ExitCode()); got != c.want {
				t.Errorf("%s, want %s; %s", got, c.want, out)
			}
		})
	}
}

// A command behind a knob is to its caller as if there were none.
func TestStandsBetweenUnseen(t *testing.T) {
	if errno := made(unix.CLONE_NEWUSER); errno != 0 {
		t.Skipf("this host makes no user namespace: %s", syscall.Errno(errno))
	}
	for _, name := range []string{"max-net-ns=0", "deny-netlink"} {
		for what, want := range map[string]int{"exit-7": 7, "term": 128 + int(unix.SIGTERM)} {
			cmd := under(t, name, what)
			_ = cmd.Run()
			got := cmd.ProcessState.ExitCode()
			if ws := cmd.ProcessState.Sys().(syscall.WaitStatus); ws.Signaled() {
				got = 128 + int(ws.Signal())
			}
			if got != want {
				t.Errorf("%s %s: %d, want %d", name, what, got, want)
			}
		}
		r, w, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		cmd := under(t, name, "pass")
		cmd.Stdin = strings.NewReader("through")
		cmd.ExtraFiles = []*os.File{nil, nil, w}
		err = cmd.Run()
		_ = w.Close()
		var got bytes.Buffer
		if _, readErr := got.ReadFrom(r); err != nil || readErr != nil || got.String() != "through" {
			t.Errorf("%s: descriptor 5 got %q, %v, %v", name, got.String(), err, readErr)
		}
		_ = r.Close()
	}
}

func TestRefuses(t *testing.T) {
	for _, args := range [][]string{{}, {"chroot"}, {"chroot", "--"}, {"chroot", "true", "true"}, {"no-such", "--", "true"}, {"-enclosed", "no-such", "--", "true"}} {
		if _, err := knob.Run(args); err == nil || !strings.Contains(err.Error(), "deny-netlink") {
			t.Errorf("%q: %v, want the names of the knobs", args, err)
		}
	}
	if names := knob.Names(); !slices.IsSorted(names) || len(names) < 9 {
		t.Errorf("names %q", names)
	}
}
