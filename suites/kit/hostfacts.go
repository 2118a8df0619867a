package kit

import (
	"context"
	"net"
	"os"
	"os/exec"
	"syscall"

	"golang.org/x/sys/unix"

	"bridgecheck/suites/catalog"
)

// probeHost finds out by doing what this cell can.
func (r *run) probeHost(ctx context.Context) {
	r.host, r.lacks = map[catalog.HostFact]string{}, map[catalog.HostFact]string{}
	note := func(fact catalog.HostFact, how string, err error) {
		if err != nil {
			r.lacks[fact] = err.Error()
			return
		}
		r.host[fact] = how
	}
	note(catalog.HostUserNS, "made one", makeNamespace(ctx))
	note(catalog.HostIPv6, "bound ::1", bindIPv6())
	note(catalog.HostLandlock, "asked for the ABI", landlockABI())
	note(catalog.HostRoot, "uid 0", need(os.Getuid() == 0, "the checks run as an ordinary user"))
	note(catalog.HostTools, "found "+released, hasTools(r.cfg.Tools))
	note(catalog.HostTwoUIDs, "started a process as another user", otherUser(ctx))
}

type lack string

func (l lack) Error() string { return string(l) }

func need(ok bool, why string) error {
	if ok {
		return nil
	}
	return lack(why)
}

// makeNamespace starts this program, which ends at once as `version`, in a new
// user and network namespace.
func makeNamespace(ctx context.Context) error {
	cmd := exec.CommandContext(ctx, "/proc/self/exe", "--version")
	cmd.SysProcAttr = ownNetwork()
	return cmd.Run()
}

// ownNetwork starts a process in a new user and network namespace, as the same
// user in it.
func ownNetwork() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{
		Cloneflags:  syscall.CLONE_NEWUSER | syscall.CLONE_NEWNET,
		UidMappings: []syscall.SysProcIDMap{{ContainerID: os.Getuid(), HostID: os.Getuid(), Size: 1}},
		GidMappings: []syscall.SysProcIDMap{{ContainerID: os.Getgid(), HostID: os.Getgid(), Size: 1}},
	}
}

func otherUser(ctx context.Context) error {
	if os.Getuid() != 0 {
		return lack("the checks run as an ordinary user, who cannot become another")
	}
	cmd := exec.CommandContext(ctx, "/proc/self/exe", "--version")
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: otherUID, Gid: otherUID}}
	return cmd.Run()
}

// otherUID is the second user of a root cell.
const otherUID = 1001

func bindIPv6() error {
	l, err := net.Listen("tcp6", "[::1]:0")
	if err != nil {
		return err
	}
	return l.Close()
}

func landlockABI() error {
	_, _, errno := unix.Syscall(unix.SYS_LANDLOCK_CREATE_RULESET, 0, 0, unix.LANDLOCK_CREATE_RULESET_VERSION)
	if errno != 0 {
		return errno
	}
	return nil
}
