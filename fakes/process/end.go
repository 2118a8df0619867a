package process

import (
	"fmt"
	"os"
	"strconv"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// exitSurvived is the code when a signal did not end the process, as with the
// first process of a PID namespace (pid_namespaces(7)).
const exitSurvived = 125

// Signal reads a name (SIGKILL) or a number (9).
func Signal(text string) (syscall.Signal, error) {
	if number, err := strconv.Atoi(text); err == nil && number > 0 && number < 65 {
		return syscall.Signal(number), nil
	}
	if number := unix.SignalNum(text); number != 0 {
		return number, nil
	}
	return 0, fmt.Errorf("unknown signal %q: a name like SIGKILL, or a number from 1 to 64", text)
}

// Die ends the process by the signal, as the kernel's default action has it; by
// code 125 where that signal does not end it.
func Die(signal syscall.Signal) {
	resetSignal(signal)
	_ = unix.Kill(os.Getpid(), signal)
	time.Sleep(time.Second) // delivery to a process that does not block it is at once
	fmt.Fprintf(os.Stderr, "%s did not end pid %d\n", unix.SignalName(signal), os.Getpid())
	os.Exit(exitSurvived)
}

// resetSignal restores the default action by the system call itself: package
// signal only hands a signal back to the Go runtime, which turns SIGSEGV and
// SIGQUIT into exit code 2.
func resetSignal(number syscall.Signal) {
	var action [4]uint64 // struct sigaction of the kernel: handler 0 is SIG_DFL
	_, _, _ = unix.RawSyscall6(unix.SYS_RT_SIGACTION, uintptr(number), uintptr(unsafe.Pointer(&action)), 0, 8, 0, 0)
}
