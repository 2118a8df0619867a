package inside

import (
	"errors"
	"os"
	"os/exec"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

// TestMain runs the tests in a user and network namespace of their own, where
// lo is down at first.
func TestMain(m *testing.M) {
	const inNamespace = "INSIDE_TEST_NAMESPACE"
	if os.Getenv(inNamespace) != "" {
		os.Exit(m.Run())
	}
	cmd := exec.Command("/proc/self/exe", os.Args[1:]...)
	cmd.Env = append(os.Environ(), inNamespace+"=1")
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
	cmd.SysProcAttr = &syscall.SysProcAttr{
		Cloneflags:  syscall.CLONE_NEWUSER | syscall.CLONE_NEWNET,
		UidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getuid(), Size: 1}},
		GidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getgid(), Size: 1}},
	}
	err := cmd.Run()
	var exit *exec.ExitError
	switch {
	case errors.As(err, &exit):
		os.Exit(exit.ExitCode())
	case err != nil:
		noNamespace = err
		os.Exit(m.Run())
	}
}

// noNamespace says why the tests cannot run.
var noNamespace error

func needNamespace(t *testing.T) {
	t.Helper()
	if noNamespace != nil {
		t.Skip("this host makes no user and network namespace: ", noNamespace)
	}
}

func flags(t *testing.T) uint16 {
	t.Helper()
	return ioctlFlags(t, unix.SIOCGIFFLAGS).Uint16()
}

// loopbackDown is for the next test of this namespace, or this one again.
func loopbackDown(t *testing.T) { ioctlFlags(t, unix.SIOCSIFFLAGS) }

// ioctlFlags asks for the flags of lo, or sets them to none.
func ioctlFlags(t *testing.T, request uint) *unix.Ifreq {
	t.Helper()
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(fd)
	lo, err := unix.NewIfreq("lo")
	if err != nil {
		t.Fatal(err)
	}
	if err := unix.IoctlIfreq(fd, request, lo); err != nil {
		t.Fatal(err)
	}
	return lo
}

// LPB-005: an lo that is up already is success, also for one who could not have
// set it up.
func TestLoopbackUpTwice(t *testing.T) {
	needNamespace(t)
	t.Cleanup(func() { loopbackDown(t) })
	if flags(t)&unix.IFF_UP != 0 {
		t.Fatal("control: lo of a new namespace is up before anything was done")
	}
	if err := loopbackUp(); err != nil {
		t.Fatalf("the first time: %v", err)
	}
	if flags(t)&upAndRunning != upAndRunning {
		t.Fatalf("lo has flags %#x, want up and running", flags(t))
	}
	if err := loopbackUp(); err != nil {
		t.Errorf("the second time: %v", err)
	}
	done := make(chan error)
	go apart(func() { // this thread's capabilities go
		if err := dropCapabilities("isolated"); err != nil {
			done <- err
		}
		done <- loopbackUp()
	})
	if err := <-done; err != nil {
		t.Errorf("without a capability: %v", err)
	}
}

func TestListen(t *testing.T) {
	needNamespace(t)
	t.Cleanup(func() { loopbackDown(t) })
	if err := loopbackUp(); err != nil {
		t.Fatal(err)
	}
	both, err := listen(0)
	if err != nil {
		t.Fatal(err)
	}
	if len(both) != 2 || both[0].Port == 0 || both[0].Port != both[1].Port || both[0].V6 || !both[1].V6 {
		t.Errorf("got %+v, want one port on both addresses", both)
	}
	if _, err := listen(both[0].Port); !errors.Is(err, unix.EADDRINUSE) {
		t.Errorf("a taken port: got %v, want EADDRINUSE", err)
	}
	// IPv6 off in this namespace: its address is not there.
	const disable = "/proc/sys/net/ipv6/conf/all/disable_ipv6"
	if err := os.WriteFile(disable, []byte("1"), 0); err != nil {
		t.Skip("this host has no IPv6: ", err)
	}
	t.Cleanup(func() { _ = os.WriteFile(disable, []byte("0"), 0) })
	one, err := listen(0)
	if err != nil || len(one) != 1 || one[0].V6 {
		t.Errorf("without IPv6: got %+v, %v, want IPv4 alone", one, err)
	}
	for _, l := range append(both, one...) {
		closeFD(l.fd)
	}
}
