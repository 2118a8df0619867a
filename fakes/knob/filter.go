package knob

import (
	"fmt"
	"unsafe"

	"golang.org/x/net/bpf"
	"golang.org/x/sys/unix"
)

// Offsets into struct seccomp_data; arguments are compared by their low words.
const (
	atNumber   = 0
	atArgument = 16
)

func number() bpf.Instruction { return bpf.LoadAbsolute{Off: atNumber, Size: 4} }

func argument(n uint32) bpf.Instruction {
	return bpf.LoadAbsolute{Off: atArgument + 8*n, Size: 4}
}

func fail(errno unix.Errno) bpf.Instruction {
	return bpf.RetConstant{Val: unix.SECCOMP_RET_ERRNO | uint32(errno)}
}

// on runs the instructions when the call has the number.
func on(nr uint32, then ...bpf.Instruction) []bpf.Instruction {
	return append([]bpf.Instruction{
		number(), bpf.JumpIf{Cond: bpf.JumpNotEqual, Val: nr, SkipTrue: uint8(len(then))},
	}, then...)
}

// onArgument fails the call when its argument satisfies the condition.
func onArgument(nr, n uint32, cond bpf.JumpTest, value uint32, errno unix.Errno) []bpf.Instruction {
	return on(nr, argument(n), bpf.JumpIf{Cond: cond, Val: value, SkipFalse: 1}, fail(errno))
}

func join(parts ...[]bpf.Instruction) []bpf.Instruction {
	var all []bpf.Instruction
	for _, p := range parts {
		all = append(all, p...)
	}
	return all
}

// denyNamespace is what a container's default profile does. clone3 hides its
// flags behind a pointer; without it everybody falls back to clone.
func denyNamespace(flag uint32) []bpf.Instruction {
	return join(
		onArgument(unix.SYS_CLONE, 0, bpf.JumpBitsSet, flag, unix.EPERM),
		onArgument(unix.SYS_UNSHARE, 0, bpf.JumpBitsSet, flag, unix.EPERM),
		on(unix.SYS_CLONE3, fail(unix.ENOSYS)),
	)
}

// denyNetlink lets namespaces be made and lo not be set up, in either way.
func denyNetlink() []bpf.Instruction {
	return join(
		onArgument(unix.SYS_SOCKET, 0, bpf.JumpEqual, unix.AF_NETLINK, unix.EPERM),
		onArgument(unix.SYS_IOCTL, 1, bpf.JumpEqual, unix.SIOCSIFFLAGS, unix.EPERM),
	)
}

func denyLandlock(errno unix.Errno) []bpf.Instruction {
	return join(
		on(unix.SYS_LANDLOCK_CREATE_RULESET, fail(errno)),
		on(unix.SYS_LANDLOCK_ADD_RULE, fail(errno)),
		on(unix.SYS_LANDLOCK_RESTRICT_SELF, fail(errno)),
	)
}

func noIPv6() []bpf.Instruction {
	return onArgument(unix.SYS_SOCKET, 0, bpf.JumpEqual, unix.AF_INET6, unix.EAFNOSUPPORT)
}

// load puts the filter on this thread.
func load(filter []bpf.Instruction) error {
	program, err := bpf.Assemble(append(filter, bpf.RetConstant{Val: unix.SECCOMP_RET_ALLOW}))
	if err != nil {
		return fmt.Errorf("assemble the filter: %w", err)
	}
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return fmt.Errorf("set no_new_privs: %w", err)
	}
	prog := unix.SockFprog{Len: uint16(len(program)), Filter: (*unix.SockFilter)(unsafe.Pointer(&program[0]))}
	if _, _, errno := unix.Syscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, 0, uintptr(unsafe.Pointer(&prog))); errno != 0 {
		return fmt.Errorf("load the filter: %w", errno)
	}
	return nil
}
