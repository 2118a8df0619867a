package seccomp

import (
	"fmt"
	"runtime"
	"unsafe"

	"golang.org/x/net/bpf"
	"golang.org/x/sys/unix"
)

// Offsets into struct seccomp_data; arguments are little-endian 64-bit words.
const (
	offNumber = 0
	offArch   = 4
	offArgs   = 16
)

var (
	allow  = bpf.RetConstant{Val: unix.SECCOMP_RET_ALLOW}
	eperm  = deny(unix.EPERM)
	enosys = deny(unix.ENOSYS)
	noaf   = deny(unix.EAFNOSUPPORT)
)

func deny(e unix.Errno) bpf.Instruction {
	return bpf.RetConstant{Val: unix.SECCOMP_RET_ERRNO | uint32(e)}
}

func argument(n uint32) bpf.Instruction { return bpf.LoadAbsolute{Off: offArgs + 8*n, Size: 4} }

// when runs the next instruction if the accumulator meets the condition and
// skips it otherwise.
func when(cond bpf.JumpTest, val uint32) bpf.Instruction {
	return bpf.JumpIf{Cond: cond, Val: val, SkipFalse: 1}
}

// Program gives the filter for this architecture.
func Program(o Options) ([]bpf.RawInstruction, error) {
	p := program{}
	p.add(
		bpf.LoadAbsolute{Off: offArch, Size: 4}, when(bpf.JumpNotEqual, auditArch), enosys,
		bpf.LoadAbsolute{Off: offNumber, Size: 4}, when(bpf.JumpGreaterThan, newest), enosys,
	)
	p.each(missing, enosys)
	p.each(refused, eperm)
	p.each(archRefused, eperm)
	if o.Strict {
		p.each(strictly, eperm)
		p.each(archStrictly, eperm)
		// personality(0xffffffff) only asks; 0 is what every program has.
		p.block(unix.SYS_PERSONALITY, argument(0), bpf.JumpIf{Cond: bpf.JumpEqual, Val: 0, SkipTrue: 2},
			when(bpf.JumpNotEqual, 0xffffffff), eperm)
	} else {
		// A debugger may trace what it started (PTRACE_TRACEME), not take hold
		// of a process that did not ask for it.
		p.block(unix.SYS_PTRACE, argument(0), when(bpf.JumpEqual, unix.PTRACE_ATTACH), eperm,
			when(bpf.JumpEqual, unix.PTRACE_SEIZE), eperm)
	}
	p.block(unix.SYS_CLONE, argument(0), when(bpf.JumpBitsSet, namespaces), eperm)
	p.block(unix.SYS_UNSHARE, argument(0), when(bpf.JumpBitsSet, namespaces|unix.CLONE_NEWTIME), eperm)
	p.ioctl(o)
	p.socket(o)
	p.add(allow)
	raw, err := bpf.Assemble(p)
	if err != nil {
		return nil, fmt.Errorf("assemble the seccomp filter: %w", err)
	}
	return raw, nil
}

type program []bpf.Instruction

func (p *program) add(in ...bpf.Instruction) { *p = append(*p, in...) }

// block runs the instructions when the call's number is nr.
func (p *program) block(nr uint32, in ...bpf.Instruction) {
	p.add(bpf.LoadAbsolute{Off: offNumber, Size: 4},
		bpf.JumpIf{Cond: bpf.JumpNotEqual, Val: nr, SkipTrue: uint8(len(in))})
	p.add(in...)
}

func (p *program) each(numbers []uint32, verdict bpf.Instruction) {
	for _, nr := range numbers {
		p.block(nr, verdict)
	}
}

// ioctl refuses what types into a terminal as if its user had.
func (p *program) ioctl(o Options) {
	in := []bpf.Instruction{
		argument(1),
		when(bpf.JumpEqual, unix.TIOCSTI), eperm, when(bpf.JumpEqual, unix.TIOCLINUX), eperm,
	}
	if o.Strict {
		in = append(in, when(bpf.JumpEqual, unix.TIOCSETD), eperm)
	}
	p.block(unix.SYS_IOCTL, in...)
}

// socket allows the families an agent needs and nothing that the kernel would
// load a module for. Netlink is for reading interfaces and routes; changing
// them needs a capability that the agent does not have.
func (p *program) socket(o Options) {
	in := []bpf.Instruction{argument(0)}
	for _, f := range families(o) {
		in = append(in, when(bpf.JumpEqual, f), allow)
	}
	if !o.Strict {
		in = append(in, bpf.JumpIf{Cond: bpf.JumpNotEqual, Val: unix.AF_NETLINK, SkipTrue: 3},
			argument(2), when(bpf.JumpEqual, unix.NETLINK_ROUTE), allow)
	}
	p.block(unix.SYS_SOCKET, append(in, noaf)...)
	if o.NoUnix {
		const typeMask = 0xf // the rest is SOCK_CLOEXEC and SOCK_NONBLOCK
		p.block(unix.SYS_SOCKETPAIR, argument(1), bpf.ALUOpConstant{Op: bpf.ALUOpAnd, Val: typeMask},
			when(bpf.JumpNotEqual, unix.SOCK_STREAM), eperm)
	}
}

// Install puts the filter on the calling thread, which must be locked to its
// goroutine and have no_new_privs set; what it starts inherits the filter.
func Install(raw []bpf.RawInstruction) error {
	filter := make([]unix.SockFilter, len(raw))
	for i, in := range raw {
		filter[i] = unix.SockFilter{Code: in.Op, Jt: in.Jt, Jf: in.Jf, K: in.K}
	}
	fprog := unix.SockFprog{Len: uint16(len(filter)), Filter: &filter[0]}
	_, _, errno := unix.RawSyscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, 0, uintptr(unsafe.Pointer(&fprog)))
	runtime.KeepAlive(filter)
	if errno != 0 {
		return fmt.Errorf("seccomp(SET_MODE_FILTER): %w", errno)
	}
	return nil
}
