package probe

import (
	"fmt"
	"runtime"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// maxSteps is how many system calls one attempt makes in its child.
const maxSteps = 4

// result as an argument stands for what the step before returned.
const result = ^uintptr(0) - 0xf00

// step is one system call. int80 enters by the 32-bit gate.
type step struct {
	number uintptr
	args   [6]uintptr
	int80  bool
}

// inChild makes the steps in a forked process of one thread, which then ends:
// nothing that unexpectedly succeeds (a namespace, a traced parent, a mapping)
// outlives it, and unshare(2) of a user namespace does not fail for the sake of
// the runtime's threads. The first error ends it and is the result; the value
// of the last step is lost but for its low bits.
func inChild(steps []step) (syscall.Errno, error) {
	if len(steps) > maxSteps {
		return 0, fmt.Errorf("%d steps, at most %d", len(steps), maxSteps)
	}
	program := new([maxSteps]step)
	copy(program[:], steps)
	// A fork that another goroutine's exec waits for would hold its pipe open.
	syscall.ForkLock.Lock()
	pid, errno := forkAndCall(program, len(steps))
	syscall.ForkLock.Unlock()
	runtime.KeepAlive(program)
	if errno != 0 {
		return 0, fmt.Errorf("fork: %w", errno)
	}
	var status unix.WaitStatus
	for {
		_, err := unix.Wait4(int(pid), &status, unix.WALL, nil)
		if err == unix.EINTR {
			continue
		}
		if err != nil {
			return 0, fmt.Errorf("wait: %w", err)
		}
		break
	}
	if status.Signaled() {
		return 0, fmt.Errorf("the call was ended by %s", unix.SignalName(status.Signal()))
	}
	return syscall.Errno(status.ExitStatus()), nil
}

// forkAndCall forks. The child has one thread and a copy of a runtime that it
// must not use: bare system calls only, no allocation, no growing stack.
//
//go:norace
//go:nosplit
//go:noinline
func forkAndCall(program *[maxSteps]step, count int) (uintptr, syscall.Errno) {
	var action [4]uint64
	pid, _, errno := syscall.RawSyscall6(syscall.SYS_CLONE, uintptr(syscall.SIGCHLD), 0, 0, 0, 0, 0)
	if errno != 0 || pid != 0 {
		return pid, errno
	}
	// The runtime's handlers must not run here: die plainly.
	_, _, _ = syscall.RawSyscall6(syscall.SYS_RT_SIGACTION, uintptr(syscall.SIGSEGV), uintptr(unsafe.Pointer(&action)), 0, 8, 0, 0)
	_, _, _ = syscall.RawSyscall6(syscall.SYS_RT_SIGACTION, uintptr(syscall.SIGSYS), uintptr(unsafe.Pointer(&action)), 0, 8, 0, 0)
	var previous uintptr
	for i := range count {
		s := &program[i]
		for j := range len(s.args) {
			if s.args[j] == result {
				s.args[j] = previous
			}
		}
		var failure syscall.Errno
		if s.int80 {
			value := int80(s.number, s.args[0], s.args[1], s.args[2])
			if int32(value) < 0 && int32(value) > -4096 {
				failure = syscall.Errno(-int32(value))
			}
			previous = value
		} else {
			previous, _, failure = syscall.RawSyscall6(s.number, s.args[0], s.args[1], s.args[2], s.args[3], s.args[4], s.args[5])
		}
		if failure != 0 {
			leaveChild(uintptr(failure))
		}
	}
	leaveChild(0)
	return 0, 0
}

// leaveChild ends the child at once.
//
//go:norace
//go:nosplit
func leaveChild(code uintptr) {
	for {
		_, _, _ = syscall.RawSyscall6(syscall.SYS_EXIT_GROUP, code, 0, 0, 0, 0, 0)
	}
}
