package inside

import (
	"fmt"
	"os"
	"strconv"
	"syscall"

	"golang.org/x/sys/unix"

	"bridgecheck/ref/sandbox/internal/wire"
)

// rlimits are the limits as getrlimit(2) counts them. The user's processes are
// those of the user namespace, so the threads of this process count as well.
func rlimits(l wire.Limits) ([]string, error) {
	threads := 0
	if l.PIDs > 0 {
		tasks, err := os.ReadDir("/proc/self/task")
		if err != nil {
			return nil, fmt.Errorf("count the init's threads: %w", err)
		}
		threads = len(tasks)
	}
	pids := 0
	if l.PIDs > 0 {
		pids = l.PIDs + threads
	}
	return []string{fmt.Sprint(l.Memory), fmt.Sprint(pids), fmt.Sprint(l.Files)}, nil
}

// ownProgram is this binary, wherever it lies: it has no name in the new root.
const ownProgram = "/proc/self/exe"

// Limit is a step between the init process and an agent with limits: they are a
// process's, not a thread's, and must not hit the init. It executes the agent.
// args are the three limits, the program, and its arguments.
func Limit(args []string) {
	const usage = 4
	if len(args) < usage {
		unix.Exit(2)
	}
	for i, resource := range []int{unix.RLIMIT_DATA, unix.RLIMIT_NPROC, unix.RLIMIT_NOFILE} {
		value, err := strconv.ParseUint(args[i], 10, 63)
		if err == nil && value > 0 {
			err = lower(resource, value)
		}
		if err != nil {
			fmt.Fprintf(os.Stderr, "sandbox: set resource limit %d: %v\n", resource, err)
			unix.Exit(exitOwn)
		}
	}
	path := args[3]
	err := syscall.Exec(path, args[3:], os.Environ())
	unix.Exit(exit(err).Code)
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
