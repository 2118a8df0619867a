package probe

import (
	"context"
	"fmt"
	"io"
	"os"
	"strconv"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"bridgecheck/fakes/attempt"
)

// exitSurvived is the code when a signal did not end the process, as with the
// first process of a PID namespace (pid_namespaces(7)).
const exitSurvived = 125

// ending is how the process is to end.
type ending struct {
	code   int
	signal syscall.Signal
}

// leave ends the loop after its own observation has been written: with Code, or
// of the signal that Call names (SIGKILL) or numbers (9).
func (p *Probe) leave(_ context.Context, a attempt.Attempt) attempt.Observation {
	e := ending{code: a.Code}
	if a.Call != "" {
		e.signal = unix.SignalNum(a.Call)
		if number, err := strconv.Atoi(a.Call); err == nil {
			e.signal = syscall.Signal(number)
		}
		if e.signal <= 0 {
			return refused("unknown signal %q", a.Call)
		}
	}
	p.exit = &e
	return attempt.Observation{}
}

// leave returns the exit code, or dies of the signal.
func (e *ending) leave(errOut io.Writer) int {
	if e.signal == 0 {
		return e.code
	}
	resetSignal(e.signal)
	_ = unix.Kill(os.Getpid(), e.signal)
	time.Sleep(time.Second) // delivery to a process that does not block it is at once
	_, _ = fmt.Fprintf(errOut, "probe: %s did not end pid %d\n", unix.SignalName(e.signal), os.Getpid())
	return exitSurvived
}

// resetSignal restores the default action by the system call itself: package
// signal only hands a signal back to the Go runtime, which turns SIGSEGV and
// SIGQUIT into exit code 2.
func resetSignal(number syscall.Signal) {
	var action [4]uint64 // struct sigaction of the kernel: handler 0 is SIG_DFL
	_, _, _ = unix.RawSyscall6(unix.SYS_RT_SIGACTION, uintptr(number), uintptr(unsafe.Pointer(&action)), 0, 8, 0, 0)
}
