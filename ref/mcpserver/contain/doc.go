// Package contain runs a command as a tree of processes that can be ended whole.
//
// The command is started by an intermediate process, this same executable under
// the name [Role], so that nothing the command forks can outlive it:
//
//   - namespace: the intermediate is PID 1 of a new PID namespace
//     (pid_namespaces(7)). When it ends the kernel kills everything in the
//     namespace, whatever sessions and groups the processes moved to. Root needs
//     no user namespace for it and the command loses nothing but the view of
//     other processes; anybody else gets one with only their own ids mapped.
//   - process-group: the intermediate is a child subreaper (prctl(2)) and sweeps
//     its descendants. This is best effort: a chain that forks faster than the
//     sweep for two seconds escapes it.
//
// The intermediate holds the read end of a pipe whose only write end is in the
// starter. When the starter is gone, even by SIGKILL, end-of-file ends the tree.
// PR_SET_PDEATHSIG is not used for it: it follows the thread that forked, which
// in a Go program may end while the program goes on.
package contain

import (
	"errors"
	"fmt"
	"syscall"
)

// Role is the name under which the executable is run again; see [Main].
const Role = "bridge-server"

// The levels of containment, as events tell them.
const (
	Namespace    = "namespace"
	ProcessGroup = "process-group"
)

// ErrUnavailable tells that this host refuses the level that was asked for.
var ErrUnavailable = errors.New("containment is not available on this host")

// Command is what to run.
type Command struct {
	// Path is absolute, or relative to Dir.
	Path string
	// Args are the arguments after the program's own name.
	Args []string
	// Env is the whole environment, as NAME=value.
	Env []string
	// Dir is the working directory; empty means the caller's.
	Dir string
}

// Exit tells how the command ended.
type Exit struct {
	Code   int
	Signal syscall.Signal // 0 when the command exited by itself
}

func (e Exit) String() string {
	if e.Signal != 0 {
		return fmt.Sprintf("signal %s", SignalName(e.Signal))
	}
	return fmt.Sprintf("code %d", e.Code)
}
