package probe

import (
	"encoding/binary"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// buffers is memory that calls point into; a plan fills what it needs.
type buffers struct {
	zero  [256]byte // stays zero, or takes what the kernel writes
	other [256]byte
	text  [2][64]byte
}

func pointer(b []byte) uintptr { return uintptr(unsafe.Pointer(unsafe.SliceData(b))) }

// path puts a C string into one of the two text buffers.
func (b *buffers) path(i int, s string) uintptr {
	copy(b.text[i][:], s)
	return pointer(b.text[i][:])
}

// word puts a 64-bit number into the second buffer, as the kernel reads it.
func (b *buffers) word(offset int, value uint64) {
	binary.NativeEndian.PutUint64(b.other[offset:], value)
}

// calls are the system calls that can be tried. Each is harmless when it
// succeeds: it happens in a child that ends at once, and where success would
// reach beyond it (mount, memory of another process) the arguments make it fail
// after the permission has been checked.
var calls = map[string]func(pid int, b *buffers) plan{
	"unshare": func(int, *buffers) plan { return single(unix.SYS_UNSHARE, namespaceFlag) },
	"setns": func(_ int, b *buffers) plan {
		return single(unix.SYS_SETNS, result, unix.CLONE_NEWNET).
			after(unix.SYS_OPENAT, ^uintptr(99), b.path(0, "/proc/self/ns/net"), unix.O_RDONLY, 0)
	},
	"clone": func(int, *buffers) plan {
		return single(unix.SYS_CLONE, namespaceFlag|uintptr(unix.SIGCHLD))
	},
	"clone3": func(_ int, b *buffers) plan {
		b.word(0, namespaceFlag)
		b.word(32, uint64(unix.SIGCHLD))
		return single(unix.SYS_CLONE3, pointer(b.other[:]), 64)
	},
	"mount": func(_ int, b *buffers) plan {
		none := b.path(0, "none")
		return single(unix.SYS_MOUNT, none, b.path(1, "/"), none, 0).with(unix.ENODEV)
	},
	"chroot":     func(_ int, b *buffers) plan { return single(unix.SYS_CHROOT, b.path(0, "/")) },
	"pivot_root": func(_ int, b *buffers) plan { return pivotRoot(b) },
	"ptrace": func(pid int, _ *buffers) plan {
		return single(unix.SYS_PTRACE, ptraceSeize, uintptr(pid))
	},
	"pidfd_open": func(pid int, _ *buffers) plan { return single(unix.SYS_PIDFD_OPEN, uintptr(pid)) },
	"pidfd_getfd": func(pid int, _ *buffers) plan {
		return single(unix.SYS_PIDFD_GETFD, result, 0, 0).after(unix.SYS_PIDFD_OPEN, uintptr(pid))
	},
	"process_vm_readv":  func(pid int, b *buffers) plan { return vm(unix.SYS_PROCESS_VM_READV, pid, b) },
	"process_vm_writev": func(pid int, b *buffers) plan { return vm(unix.SYS_PROCESS_VM_WRITEV, pid, b) },
	"kill":              func(pid int, _ *buffers) plan { return single(unix.SYS_KILL, uintptr(pid), 0) },
	"mmap": func(int, *buffers) plan {
		const anonymous, none = unix.MAP_PRIVATE | unix.MAP_ANONYMOUS | unix.MAP_POPULATE, ^uintptr(0)
		return single(unix.SYS_MMAP, 0, 4096, unix.PROT_READ|unix.PROT_WRITE, anonymous, none, 0)
	},
	"io_uring_setup": func(_ int, b *buffers) plan {
		return single(unix.SYS_IO_URING_SETUP, 1, pointer(b.zero[:]))
	},
	"keyctl": func(int, *buffers) plan {
		return single(unix.SYS_KEYCTL, unix.KEYCTL_GET_KEYRING_ID, keyring(unix.KEY_SPEC_PROCESS_KEYRING), 0).with(unix.ENOKEY)
	},
	"add_key": func(_ int, b *buffers) plan {
		return single(unix.SYS_ADD_KEY, b.path(0, "user"), b.path(1, "probe"), pointer(b.zero[:]), 1, keyring(unix.KEY_SPEC_PROCESS_KEYRING))
	},
	"bpf": func(_ int, b *buffers) plan {
		return single(unix.SYS_BPF, unix.BPF_MAP_CREATE, pointer(b.zero[:]), 72).with(unix.EINVAL)
	},
	"perf_event_open": func(_ int, b *buffers) plan {
		b.word(0, unix.PERF_TYPE_SOFTWARE|128<<32) // type, then size
		return single(unix.SYS_PERF_EVENT_OPEN, pointer(b.other[:]), 0, ^uintptr(0), ^uintptr(0), 0)
	},
	"userfaultfd": func(int, *buffers) plan { return single(unix.SYS_USERFAULTFD, unix.O_CLOEXEC) },
	"syslog":      func(int, *buffers) plan { return single(unix.SYS_SYSLOG, 10) },
	"landlock_create_ruleset": func(int, *buffers) plan {
		return single(unix.SYS_LANDLOCK_CREATE_RULESET, 0, 0, unix.LANDLOCK_CREATE_RULESET_VERSION)
	},
	"socket": func(int, *buffers) plan { return single(unix.SYS_SOCKET, unix.AF_UNIX, unix.SOCK_STREAM, 0) },
	"socketpair": func(_ int, b *buffers) plan {
		return single(unix.SYS_SOCKETPAIR, unix.AF_UNIX, unix.SOCK_STREAM, 0, pointer(b.zero[:]))
	},
	"ioctl": func(_ int, b *buffers) plan {
		return single(unix.SYS_IOCTL, 0, 1<<32|unix.TIOCSTI, pointer(b.zero[:])).with(unix.ENOTTY, unix.EIO)
	},
	"socket-x32":    func(int, *buffers) plan { return x32(41, unix.AF_UNIX, unix.SOCK_STREAM, 0) },
	"unshare-x32":   func(int, *buffers) plan { return x32(272, namespaceFlag) },
	"socket-int80":  func(int, *buffers) plan { return gate32(i386Socket, unix.AF_UNIX, unix.SOCK_STREAM, 0) },
	"unshare-int80": func(int, *buffers) plan { return gate32(i386Unshare, namespaceFlag) },
}

// keyring is one of the special keyring numbers, which are negative.
func keyring(id int) uintptr { return uintptr(id) }

// pivotRoot names a place that is no mount point: EINVAL comes after the
// capability check.
func pivotRoot(b *buffers) plan {
	root := b.path(0, "/proc/self")
	return single(unix.SYS_PIVOT_ROOT, root, root).with(unix.EINVAL, unix.EBUSY, unix.ENOTDIR)
}

// vm names one byte at address 0 of the other process: EFAULT comes after the
// permission check of process_vm_readv(2).
func vm(number uintptr, pid int, b *buffers) plan {
	b.word(0, uint64(pointer(b.zero[:])))
	b.word(8, 1)
	b.word(32, 0)
	b.word(40, 1)
	return single(number, uintptr(pid), pointer(b.other[:]), 1, pointer(b.other[32:]), 1, 0).
		with(syscall.EFAULT)
}
