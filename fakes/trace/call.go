package trace

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"net/netip"
	"os"
	"strings"
	"unsafe"

	"golang.org/x/sys/unix"
)

// info is struct ptrace_syscall_info of ptrace(2); Data is its union.
type info struct {
	Op                           uint8
	_                            [3]byte
	Arch                         uint32
	InstructionPointer, StackTop uint64
	Data                         [7]uint64
}

func callInfo(tid int) (info, error) {
	var i info
	err := ptrace(unix.PTRACE_GET_SYSCALL_INFO, tid, unsafe.Sizeof(i), uintptr(unsafe.Pointer(&i)))
	return i, err
}

// entry is the call with its arguments; empty for what a runtime does all the
// time and no attempt consists of.
func (i info) entry(tid int) string {
	number, args := i.Data[0], i.Data[1:]
	call, named := names[number]
	switch {
	case i.Arch == unix.AUDIT_ARCH_I386:
		return fmt.Sprintf("32-bit entry, call %d(%#x, %#x, %#x)", number, args[0], args[1], args[2])
	case i.Arch == unix.AUDIT_ARCH_X86_64 && number&x32Bit != 0:
		return fmt.Sprintf("x32 entry, call %d(%#x, %#x, %#x)", number&^x32Bit, args[0], args[1], args[2])
	case noise[number], number == unix.SYS_TGKILL && args[2] == uint64(unix.SIGURG):
		return ""
	case !named:
		call = known{fmt.Sprintf("call %d", number), len(args)}
	}
	var words []string
	for n, arg := range args[:call.words] {
		words = append(words, argument(tid, number, n, args, arg))
	}
	return call.name + "(" + strings.Join(words, ", ") + ")"
}

// x32Bit marks a call by the x32 entry of x86-64.
const x32Bit = 0x40000000

// result is what the kernel answered.
func (i info) result() string {
	value := int64(i.Data[0])
	if i.Data[1]&0xff == 0 {
		return fmt.Sprint(value)
	}
	errno := unix.Errno(-value)
	return fmt.Sprintf("-1 %s (%s)", unix.ErrnoName(errno), errno)
}

// argument prints one: a path or an address for what it says, a number as it is,
// the high bits too.
func argument(tid int, number uint64, n int, args []uint64, arg uint64) string {
	if at, ok := paths[number]; ok && at == n {
		if text, ok := text(tid, arg); ok {
			return fmt.Sprintf("%q", text)
		}
	}
	if at, ok := addresses[number]; ok && at == n && arg != 0 {
		if address, ok := address(tid, arg, args[n+1]); ok {
			return address
		}
	}
	if value := int64(arg); value > -4096 && value < 1<<16 {
		return fmt.Sprint(value)
	}
	return fmt.Sprintf("%#x", arg)
}

// memory reads what lies at an address of the thread's.
func memory(tid int, at uint64, size int) []byte {
	f, err := os.Open(fmt.Sprintf("/proc/%d/mem", tid))
	if err != nil {
		return nil
	}
	defer f.Close()
	b := make([]byte, size)
	n, _ := f.ReadAt(b, int64(at)) // less than asked for lies at the end of a mapping
	return b[:n]
}

// longest is how much of a path is shown.
const longest = 256

func text(tid int, at uint64) (string, bool) {
	b := memory(tid, at, longest)
	path, _, whole := bytes.Cut(b, []byte{0})
	if !whole {
		return string(b) + "…", len(b) > 0
	}
	return string(path), true
}

// address prints a struct sockaddr.
func address(tid int, at, length uint64) (string, bool) {
	b := memory(tid, at, int(min(length, unix.SizeofSockaddrUnix)))
	if len(b) < 2 {
		return "", false
	}
	family, rest := binary.NativeEndian.Uint16(b), b[2:]
	switch {
	case family == unix.AF_INET && len(rest) >= 6:
		return fmt.Sprintf("{AF_INET %s:%d}", netip.AddrFrom4([4]byte(rest[2:6])), binary.BigEndian.Uint16(rest)), true
	case family == unix.AF_INET6 && len(rest) >= 22:
		return fmt.Sprintf("{AF_INET6 [%s]:%d}", netip.AddrFrom16([16]byte(rest[6:22])), binary.BigEndian.Uint16(rest)), true
	case family == unix.AF_UNIX && len(rest) > 0 && rest[0] == 0:
		return fmt.Sprintf("{AF_UNIX @%q}", rest[1:]), true
	case family == unix.AF_UNIX:
		path, _, _ := bytes.Cut(rest, []byte{0})
		return fmt.Sprintf("{AF_UNIX %q}", path), true
	}
	return fmt.Sprintf("{family %d, % x}", family, rest), true
}
