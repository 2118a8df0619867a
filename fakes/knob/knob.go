// Package knob makes denied and limited environments: a command runs in one as
// on a host or in a container that has less to give. No knob needs root or a
// container engine, and none touches anything outside its own process tree.
package knob

import (
	"fmt"
	"maps"
	"os"
	"runtime"
	"slices"
	"strings"
	"syscall"

	"golang.org/x/net/bpf"
	"golang.org/x/sys/unix"
)

// knob is one environment: a system call filter, or what is done first in user
// and mount namespaces of its own.
type knob struct {
	filter  []bpf.Instruction
	enclose func() error
}

var knobs = map[string]knob{
	"max-user-ns=0": {enclose: setMax("user")},
	"max-net-ns=0":  {enclose: setMax("net")},
	"chroot":        {enclose: intoChroot},
	"deny-userns":   {filter: denyNamespace(unix.CLONE_NEWUSER)},
	"deny-netns":    {filter: denyNamespace(unix.CLONE_NEWNET)},
	"deny-pidns":    {filter: denyNamespace(unix.CLONE_NEWPID)},
	"deny-netlink":  {filter: denyNetlink()},
	"no-landlock":   {filter: denyLandlock(unix.ENOSYS)},
	"landlock-off":  {filter: denyLandlock(unix.EOPNOTSUPP)},
	"no-ipv6":       {filter: noIPv6()},
}

// Names are the knobs there are.
func Names() []string { return slices.Sorted(maps.Keys(knobs)) }

// enclosed marks the process that is in namespaces of its own already.
const enclosed = "-enclosed"

// Run runs `NAME -- COMMAND ARGS…` and returns its exit code, 128 and the number
// of the signal that ended it. It returns only for a knob that has to stand
// between, or with an error.
func Run(args []string) (int, error) {
	inside := len(args) > 0 && args[0] == enclosed
	if inside {
		args = args[1:]
	}
	if len(args) < 3 || args[1] != "--" {
		return 0, fmt.Errorf("use: knob NAME -- COMMAND [ARGS…]; NAME is one of %s", strings.Join(Names(), ", "))
	}
	k, found := knobs[args[0]]
	if !found {
		return 0, fmt.Errorf("unknown knob %q: one of %s", args[0], strings.Join(Names(), ", "))
	}
	if k.enclose != nil && !inside {
		return stand(append([]string{enclosed}, args...))
	}
	// The filter is this thread's, and exec keeps it.
	runtime.LockOSThread()
	if k.enclose != nil {
		if err := k.enclose(); err != nil {
			return 0, fmt.Errorf("%s: %w", args[0], err)
		}
	}
	if k.filter != nil {
		if err := load(k.filter); err != nil {
			return 0, fmt.Errorf("%s: %w", args[0], err)
		}
	}
	err := syscall.Exec(args[2], args[2:], os.Environ())
	return 0, fmt.Errorf("execute %s: %w", args[2], err)
}
