package sandbox

import (
	"fmt"
	"os"

	"bridgecheck/ref/sandbox/internal/wire"
)

// Level is how much of the sandbox is the agent's own.
type Level string

// The levels, strongest first.
const (
	Isolated     Level = wire.Isolated   // every namespace is the sandbox's own
	SharedUserNS Level = wire.SharedUser // the host's network; every other layer stays
	SharedNone   Level = wire.SharedNone // no namespace at all: Landlock, seccomp, no_new_privs, descriptors, environment
)

// Profile is the system call filter.
type Profile string

// The profiles; the zero value is Baseline. Off is for finding out which layer
// breaks a program.
const (
	Baseline Profile = "baseline"
	Strict   Profile = "strict"
	Off      Profile = "off"
)

// Spec says what to run and what it may see.
type Spec struct {
	// Path is the program, looked up in the PATH of Env when it holds no slash.
	// One that is missing is not a failure of Launch: the sandbox ends with 127,
	// as in a shell. Args do not hold the program's name.
	Path string
	Args []string
	// Env is complete, see Environment.
	Env []string
	// Cwd must be visible inside; "" is /tmp.
	Cwd string
	// Stdin, Stdout and Stderr may be nil: /dev/null, or the terminal with TTY.
	Stdin, Stdout, Stderr *os.File

	// Level is Isolated by default.
	Level Level
	// Ports are those of the loopback listeners to make, see Listener; 0 is
	// chosen by the kernel.
	Ports []uint16
	// RO and RW are absolute paths of files and directories to show at the same
	// place, besides SystemPaths and the program itself; .. is taken by name. One
	// that is declared in both, by whatever name, is refused. A Unix socket in RO
	// can be connected to where the layer "sockets" is missing, one in RW always.
	RO, RW []string
	// Sockets are directories of the host that are shown read-only, and in which
	// the agent may connect to what listens. SharedNone has none.
	Sockets []Sockets
	// Landlock restricts to the same paths once more.
	Landlock bool
	Seccomp  Profile
	Limits   Limits
	// Grouped says that the caller puts the init process into a control group
	// that bounds memory and processes before it calls Start. The limit of
	// processes then holds for the host's root as well.
	Grouped bool
	// Descriptors of the caller are inherited under their own numbers; nothing
	// else is but 0, 1 and 2.
	Descriptors []int
	// TTY asks for a terminal of the sandbox's own: it controls the agent's
	// session, and is each stream that has no file. See Sandbox.Terminal.
	TTY bool
}

// Sockets is one directory of sockets.
type Sockets struct {
	Dir string // absolute, without symbolic links
	At  string // the path inside, where nothing else is shown
}

// Limits bound what the agent uses; 0 is no limit. A control group bounds memory
// and processes as a whole besides, see Spec.Grouped.
type Limits struct {
	// Memory in bytes: of the writable private memory of each process
	// (RLIMIT_DATA), and of each of the sandbox's temporary file systems.
	Memory int64
	// PIDs is the number of processes and threads of the sandbox.
	PIDs int
	// Files is the number of open descriptors of each process.
	Files int
}

// Refusal is a Spec that is not honoured, and why.
type Refusal struct {
	Field  string // of Spec
	Reason string // with the fix
}

func (r *Refusal) Error() string { return fmt.Sprintf("%s: %s", r.Field, r.Reason) }

func refuse(field, format string, args ...any) error {
	return &Refusal{Field: field, Reason: fmt.Sprintf(format, args...)}
}
