package inside

import (
	"errors"
	"fmt"
	"os"
	"strconv"
	"syscall"

	"golang.org/x/sys/unix"

	"bridgecheck/ref/sandbox/internal/wire"
)

// stepArgs are what Step is told: the descriptor of the terminal, -1 for none,
// and the limits as getrlimit(2) counts them. The user's processes are those of
// the user namespace, so the threads of this process count as well.
func stepArgs(tty int, l wire.Limits) ([]string, error) {
	pids := l.PIDs
	if pids > 0 {
		threads, err := os.ReadDir("/proc/self/task")
		if err != nil {
			return nil, fmt.Errorf("count the init's threads: %w", err)
		}
		pids += len(threads)
	}
	return []string{fmt.Sprint(tty), fmt.Sprint(l.Memory), fmt.Sprint(pids), fmt.Sprint(l.Files)}, nil
}

// ownProgram is this binary, wherever it lies: it has no name in the new root.
const ownProgram = "/proc/self/exe"

// Step runs between the init process and an agent that has limits or a terminal:
// both are a process's or a session's, not a thread's, and must not be the
// init's. It executes the agent. args are what stepArgs gives, the program, and
// its arguments.
func Step(args []string) {
	const own = 4
	if len(args) <= own {
		unix.Exit(exitOwn)
	}
	if tty, err := strconv.Atoi(args[0]); err != nil || tty >= 0 && !takeTerminal(tty) {
		unix.Exit(exitOwn)
	}
	if memory := args[1]; memory != "0" {
		// When memory is used up, the agent's processes go before its init.
		_ = os.WriteFile("/proc/self/oom_score_adj", []byte("1000"), 0)
	}
	for i, resource := range []int{unix.RLIMIT_DATA, unix.RLIMIT_NPROC, unix.RLIMIT_NOFILE} {
		value, err := strconv.ParseUint(args[1+i], 10, 63)
		if err == nil && value > 0 {
			err = lower(resource, value)
		}
		if err != nil {
			fmt.Fprintf(os.Stderr, "sandbox: set resource limit %d: %v\n", resource, err)
			unix.Exit(exitOwn)
		}
	}
	err := syscall.Exec(args[own], args[own:], os.Environ())
	unix.Exit(exit(err).Code)
}

// takeTerminal makes the terminal the one that controls this session.
func takeTerminal(fd int) bool {
	err := unix.IoctlSetInt(fd, unix.TIOCSCTTY, 0)
	if err = errors.Join(err, unix.Close(fd)); err != nil {
		fmt.Fprintf(os.Stderr, "sandbox: take the terminal: %v\n", err)
	}
	return err == nil
}

// exitOwn is the code of a launcher's own failure.
const exitOwn = 125

func lower(resource int, value uint64) error {
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(resource, &limit); err != nil {
		return err
	}
	limit.Max = min(limit.Max, value)
	limit.Cur = limit.Max
	return syscall.Setrlimit(resource, &limit)
}
