package trace

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"strconv"

	"golang.org/x/sys/unix"
)

// options: every thread and child is watched from its first instruction.
const options = unix.PTRACE_O_TRACESYSGOOD | unix.PTRACE_O_TRACECLONE | unix.PTRACE_O_TRACEFORK |
	unix.PTRACE_O_TRACEVFORK | unix.PTRACE_O_TRACEEXEC

// Watch watches the process, its threads and children until all have ended. It
// calls begun when it has hold of them, and each for every call as it is
// answered, before the thread goes on: "[thread] name(arguments) = result". The
// calling program must be there for this alone: its children's ends are waited
// for here, and what is watched is let go when it exits.
func Watch(pid int, begun func(), each func(line string)) error {
	runtime.LockOSThread() // ptrace is a thread's own
	defer runtime.UnlockOSThread()
	if err := seize(pid); err != nil {
		return err
	}
	begun()
	inside := map[int]string{} // the call that a thread is in
	for {
		var status unix.WaitStatus
		tid, err := unix.Wait4(-1, &status, unix.WALL, nil)
		switch {
		case errors.Is(err, unix.EINTR):
		case errors.Is(err, unix.ECHILD):
			return nil
		case err != nil:
			return fmt.Errorf("wait: %w", err)
		case !status.Stopped():
			delete(inside, tid)
		default:
			if status.StopSignal() == unix.SIGTRAP|0x80 {
				call(tid, inside, each)
			}
			_ = unix.PtraceSyscall(tid, deliver(status)) // it may have been killed
		}
	}
}

// seize takes hold of all threads; those that are made meanwhile are found by
// looking again.
func seize(pid int) error {
	held := map[int]bool{}
	for found := true; found; {
		found = false
		tasks, err := os.ReadDir(fmt.Sprintf("/proc/%d/task", pid))
		if err != nil {
			return fmt.Errorf("threads of process %d: %w", pid, err)
		}
		for _, task := range tasks {
			tid, err := strconv.Atoi(task.Name())
			if err != nil || held[tid] {
				continue
			}
			err = ptrace(unix.PTRACE_SEIZE, tid, 0, options)
			if errors.Is(err, unix.ESRCH) {
				continue // it has ended
			}
			// One that a seized thread has made is seized with it: EPERM.
			if err != nil && (len(held) == 0 || !errors.Is(err, unix.EPERM)) {
				return fmt.Errorf("ptrace(PTRACE_SEIZE, %d): %w", tid, err)
			}
			held[tid], found = true, true
			if err == nil {
				_ = unix.PtraceInterrupt(tid) // it may have ended
			}
		}
	}
	return nil
}

// deliver is the signal that a stop keeps from the thread, 0 when it is one of
// ptrace's own.
func deliver(status unix.WaitStatus) int {
	if sig := status.StopSignal(); int(status)>>16 == 0 && sig != unix.SIGTRAP|0x80 {
		return int(sig)
	}
	return 0
}

// call notes what a thread enters, or tells what it is answered.
func call(tid int, inside map[int]string, each func(string)) {
	info, err := callInfo(tid)
	switch {
	case err != nil: // it has been killed
	case info.Op == unix.PTRACE_SYSCALL_INFO_ENTRY:
		inside[tid] = info.entry(tid)
	case info.Op == unix.PTRACE_SYSCALL_INFO_EXIT && inside[tid] != "":
		each(fmt.Sprintf("[%d] %s = %s", tid, inside[tid], info.result()))
		inside[tid] = ""
	}
}

func ptrace(request, tid int, addr, data uintptr) error {
	_, _, errno := unix.RawSyscall6(unix.SYS_PTRACE, uintptr(request), uintptr(tid), addr, data, 0, 0)
	if errno != 0 {
		return errno
	}
	return nil
}
