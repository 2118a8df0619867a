package probe_test

import (
	"fmt"
	"strings"
	"testing"
	"time"
	"unsafe"

	"golang.org/x/net/bpf"
	"golang.org/x/sys/unix"

	"bridgecheck/fakes/attempt"
)

// knobs are environments in which less can be had, by mode.
var knobs = map[string]func() error{
	"lab":        lab,
	"no-netlink": denyNetlink,
	"no-proc":    hideProc,
}

// denyNetlink refuses socket(AF_NETLINK) with EPERM, for all threads.
func denyNetlink() error {
	const numberOffset, argumentOffset = 0, 16 // of struct seccomp_data
	program, err := bpf.Assemble([]bpf.Instruction{
		bpf.LoadAbsolute{Off: numberOffset, Size: 4},
		bpf.JumpIf{Cond: bpf.JumpNotEqual, Val: unix.SYS_SOCKET, SkipTrue: 3},
		bpf.LoadAbsolute{Off: argumentOffset, Size: 4},
		bpf.JumpIf{Cond: bpf.JumpNotEqual, Val: unix.AF_NETLINK, SkipTrue: 1},
		bpf.RetConstant{Val: unix.SECCOMP_RET_ERRNO | uint32(unix.EPERM)},
		bpf.RetConstant{Val: unix.SECCOMP_RET_ALLOW},
	})
	if err != nil {
		return err
	}
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return err
	}
	filter := unix.SockFprog{Len: uint16(len(program)), Filter: (*unix.SockFilter)(unsafe.Pointer(&program[0]))}
	_, _, errno := unix.Syscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, unix.SECCOMP_FILTER_FLAG_TSYNC, uintptr(unsafe.Pointer(&filter)))
	if errno != 0 {
		return errno
	}
	return nil
}

// hideProc puts an empty file system over /proc in a mount namespace of its own.
func hideProc() error {
	if err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""); err != nil {
		return fmt.Errorf("make mounts private: %w", err)
	}
	return unix.Mount("none", "/proc", "tmpfs", 0, "")
}

func TestFactsWithoutNetlink(t *testing.T) {
	a := start(t, "no-netlink", true)
	o := a.want("EPERM", attempt.Attempt{Op: attempt.OpFacts})
	if o.Facts == nil || len(o.Facts.Interfaces) == 0 || o.Facts.Interfaces[0].Name != "lo" || !o.Facts.NoNewPrivs || o.Facts.Seccomp != 2 {
		t.Errorf("facts %+v", o.Facts)
	}
	if !strings.Contains(o.Error, "netlink") {
		t.Errorf("error %q", o.Error)
	}
	a.want("EPERM", attempt.Attempt{Op: attempt.OpSetLink, Address: "lo", Args: []string{"down"}})
	a.want("EPERM", attempt.Attempt{Op: attempt.OpSocket, Words: []uint64{unix.AF_NETLINK, unix.SOCK_RAW, 0}})
	// The filter looks at one number only: here is what a poor one lets through.
	if o := a.do(attempt.Attempt{Op: attempt.OpCall, Call: "socket", Words: []uint64{unix.AF_NETLINK, unix.SOCK_RAW, 0}}); o.Errno != "EPERM" || o.Text != "" {
		t.Errorf("%+v", o)
	}
	o = a.do(attempt.Attempt{Op: attempt.OpCall, Call: "socket-int80", Words: []uint64{unix.AF_NETLINK, unix.SOCK_RAW, 0}})
	t.Logf("by the 32-bit gate: passed %v, %s %s", o.Text == "passed", o.Errno, o.Refused)
}

func TestWithoutProcNothingIsTouched(t *testing.T) {
	a := start(t, "no-proc", true)
	if o := a.do(attempt.Attempt{Op: attempt.OpSocket, Words: []uint64{1, 1, 0}}); !strings.Contains(o.Refused, "cannot be told") {
		t.Errorf("%+v", o)
	}
	facts := a.must(attempt.Attempt{Op: attempt.OpFacts}).Facts
	if facts.Processes != nil || len(facts.Namespaces) != 0 || len(facts.Interfaces) == 0 {
		t.Errorf("facts %+v", facts)
	}
	for fd := range 3 {
		if !strings.HasPrefix(facts.Descriptors[fd], "mode:") {
			t.Errorf("descriptors %v", facts.Descriptors)
		}
	}
}

func TestFewDescriptors(t *testing.T) {
	a := start(t, "lab", true)
	limit := unix.Rlimit{Cur: 64, Max: 64}
	if err := unix.Prlimit(a.cmd.Process.Pid, unix.RLIMIT_NOFILE, &limit, nil); err != nil {
		t.Skipf("prlimit: %v", err)
	}
	o := a.must(attempt.Attempt{Op: attempt.OpMany, Network: "tcp", Address: labSink, Count: 100})
	if o.Errnos["EMFILE"] == 0 || o.Errnos[""] == 0 || o.Errnos["EMFILE"]+o.Errnos[""] != 100 {
		t.Errorf("%v", o.Errnos)
	}
	// The servers share the process and its limit: they close a moment later.
	again := attempt.Attempt{Op: attempt.OpDial, Network: "tcp", Address: labSink}
	for deadline := time.Now().Add(answerCap); a.do(again).Errno == "EMFILE" && time.Now().Before(deadline); {
		time.Sleep(time.Millisecond)
	}
	a.must(again)
}
