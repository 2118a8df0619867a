package inside

import (
	"fmt"
	"unsafe"

	"golang.org/x/sys/unix"
)

// kept are the signals whose handler the Go runtime needs: preemption,
// profiling, and the end of children.
var kept = map[unix.Signal]bool{unix.SIGURG: true, unix.SIGPROF: true, unix.SIGCHLD: true, unix.SIGSYS: true}

// deafen takes the runtime's signal handlers away from PID 1. The kernel then
// drops what its own namespace sends it, pid_namespaces(7): the agent cannot
// end it, and the child inherits no disposition of this process.
func deafen() error {
	const sigsetSize = 8
	var byDefault struct{ handler, flags, restorer, mask uint64 } // SIG_DFL is 0
	for sig := unix.SIGHUP; sig <= unix.SIGSYS; sig++ {
		if sig == unix.SIGKILL || sig == unix.SIGSTOP || kept[sig] {
			continue
		}
		_, _, errno := unix.RawSyscall6(unix.SYS_RT_SIGACTION, uintptr(sig), uintptr(unsafe.Pointer(&byDefault)), 0, sigsetSize, 0, 0)
		if errno != 0 {
			return fmt.Errorf("rt_sigaction(%d, SIG_DFL): %w", int(sig), errno)
		}
	}
	return nil
}
