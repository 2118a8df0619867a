package probe

import (
	"context"
	"os"
	"runtime"

	"golang.org/x/sys/unix"

	"bridgecheck/fakes/attempt"
)

// ptraceSeize is PTRACE_SEIZE of ptrace(2): the same permission check as
// PTRACE_ATTACH, but it does not stop the tracee.
const ptraceSeize = 0x4206

// ptrace attaches to PID. It happens on a thread that ends with the attempt,
// and with the tracer the attachment ends too.
func (p *Probe) ptrace(_ context.Context, a attempt.Attempt) attempt.Observation {
	if a.PID == 0 {
		return refused("ptrace needs a pid")
	}
	result := make(chan error)
	go func() {
		runtime.LockOSThread() // never unlocked: the thread ends with the goroutine
		_, _, errno := unix.RawSyscall6(unix.SYS_PTRACE, ptraceSeize, uintptr(a.PID), 0, 0, 0, 0)
		var err error
		if errno != 0 {
			err = os.NewSyscallError("ptrace", errno)
		}
		result <- err
	}()
	return failed(<-result)
}
