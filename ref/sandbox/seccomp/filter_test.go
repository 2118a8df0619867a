package seccomp_test

import (
	"encoding/binary"
	"testing"

	"golang.org/x/net/bpf"
	"golang.org/x/sys/unix"

	"bridgecheck/ref/sandbox/seccomp"
)

const (
	allowed = unix.SECCOMP_RET_ALLOW
	eperm   = unix.SECCOMP_RET_ERRNO | uint32(unix.EPERM)
	enosys  = unix.SECCOMP_RET_ERRNO | uint32(unix.ENOSYS)
	noaf    = unix.SECCOMP_RET_ERRNO | uint32(unix.EAFNOSUPPORT)
)

// call is what the kernel would show the filter.
type call struct {
	arch uint32
	nr   uint32
	args [6]uint64
}

// judge runs the filter in x/net/bpf's machine, which reads big-endian words:
// each 32-bit word of seccomp_data is therefore stored big-endian, the low word
// of an argument first as on a little-endian kernel.
func judge(t *testing.T, raw []bpf.RawInstruction, c call) uint32 {
	t.Helper()
	program, ok := bpf.Disassemble(raw)
	if !ok {
		t.Fatal("the filter holds an instruction that cannot be read back")
	}
	vm, err := bpf.NewVM(program)
	if err != nil {
		t.Fatalf("load the filter: %v", err)
	}
	data := make([]byte, 64)
	binary.BigEndian.PutUint32(data[0:], c.nr)
	binary.BigEndian.PutUint32(data[4:], c.arch)
	for i, a := range c.args {
		binary.BigEndian.PutUint32(data[16+8*i:], uint32(a))
		binary.BigEndian.PutUint32(data[20+8*i:], uint32(a>>32))
	}
	got, err := vm.Run(data)
	if err != nil {
		t.Fatalf("run the filter: %v", err)
	}
	return uint32(got)
}

type row struct {
	name string
	nr   uint32
	args [6]uint64
	want uint32 // baseline
	hard uint32 // strict; 0: as baseline
}

const high = 1 << 32 // a bit the kernel does not look at

var rows = []row{
	{name: "read", nr: unix.SYS_READ, want: allowed},
	{name: "execve", nr: unix.SYS_EXECVE, want: allowed},
	{name: "newest known", nr: unix.SYS_RSEQ_SLICE_YIELD, want: allowed},
	{name: "one above the newest", nr: unix.SYS_RSEQ_SLICE_YIELD + 1, want: enosys},
	{name: "x32 read", nr: 0x40000000, want: enosys},
	{name: "number -1", nr: 0xffffffff, want: enosys},
	{name: "clone3", nr: unix.SYS_CLONE3, want: enosys},
	{name: "io_uring_setup", nr: unix.SYS_IO_URING_SETUP, want: enosys},
	{name: "io_uring_register", nr: unix.SYS_IO_URING_REGISTER, want: enosys},
	{name: "fork", nr: unix.SYS_CLONE, args: [6]uint64{uint64(unix.SIGCHLD)}, want: allowed},
	{name: "clone thread", nr: unix.SYS_CLONE, args: [6]uint64{unix.CLONE_VM | unix.CLONE_FS | unix.CLONE_FILES | unix.CLONE_SIGHAND | unix.CLONE_THREAD}, want: allowed},
	{name: "clone user", nr: unix.SYS_CLONE, args: [6]uint64{unix.CLONE_NEWUSER}, want: eperm},
	{name: "clone net, high bit", nr: unix.SYS_CLONE, args: [6]uint64{high | unix.CLONE_NEWNET}, want: eperm},
	{name: "clone cgroup", nr: unix.SYS_CLONE, args: [6]uint64{unix.CLONE_NEWCGROUP | 17}, want: eperm},
	{name: "unshare files", nr: unix.SYS_UNSHARE, args: [6]uint64{unix.CLONE_FILES}, want: allowed},
	{name: "unshare time", nr: unix.SYS_UNSHARE, args: [6]uint64{unix.CLONE_NEWTIME}, want: eperm},
	{name: "unshare mount", nr: unix.SYS_UNSHARE, args: [6]uint64{unix.CLONE_NEWNS}, want: eperm},
	{name: "setns", nr: unix.SYS_SETNS, want: eperm},
	{name: "mount", nr: unix.SYS_MOUNT, want: eperm},
	{name: "move_mount", nr: unix.SYS_MOVE_MOUNT, want: eperm},
	{name: "keyctl", nr: unix.SYS_KEYCTL, want: eperm},
	{name: "bpf", nr: unix.SYS_BPF, want: eperm},
	{name: "pidfd_getfd", nr: unix.SYS_PIDFD_GETFD, want: eperm},
	{name: "pidfd_open", nr: unix.SYS_PIDFD_OPEN, want: allowed},
	{name: "ptrace traceme", nr: unix.SYS_PTRACE, args: [6]uint64{unix.PTRACE_TRACEME}, want: allowed, hard: eperm},
	{name: "ptrace attach", nr: unix.SYS_PTRACE, args: [6]uint64{unix.PTRACE_ATTACH}, want: eperm},
	{name: "ptrace seize", nr: unix.SYS_PTRACE, args: [6]uint64{unix.PTRACE_SEIZE}, want: eperm},
	{name: "ptrace cont", nr: unix.SYS_PTRACE, args: [6]uint64{unix.PTRACE_CONT}, want: allowed, hard: eperm},
	{name: "ioctl window size", nr: unix.SYS_IOCTL, args: [6]uint64{0, unix.TIOCGWINSZ}, want: allowed},
	{name: "ioctl below TIOCSTI", nr: unix.SYS_IOCTL, args: [6]uint64{0, unix.TIOCSTI - 1}, want: allowed},
	{name: "ioctl TIOCSTI", nr: unix.SYS_IOCTL, args: [6]uint64{0, unix.TIOCSTI}, want: eperm},
	{name: "ioctl above TIOCSTI", nr: unix.SYS_IOCTL, args: [6]uint64{0, unix.TIOCSTI + 1}, want: allowed},
	{name: "ioctl TIOCSTI, high bit", nr: unix.SYS_IOCTL, args: [6]uint64{0, high | unix.TIOCSTI}, want: eperm},
	{name: "ioctl TIOCLINUX", nr: unix.SYS_IOCTL, args: [6]uint64{0, unix.TIOCLINUX}, want: eperm},
	{name: "ioctl TIOCSETD", nr: unix.SYS_IOCTL, args: [6]uint64{0, unix.TIOCSETD}, want: allowed, hard: eperm},
	{name: "personality 0", nr: unix.SYS_PERSONALITY, want: allowed},
	{name: "personality ask", nr: unix.SYS_PERSONALITY, args: [6]uint64{0xffffffff}, want: allowed},
	{name: "personality no aslr", nr: unix.SYS_PERSONALITY, args: [6]uint64{0x40000}, want: allowed, hard: eperm},
	{name: "socket unspec", nr: unix.SYS_SOCKET, args: [6]uint64{unix.AF_UNSPEC}, want: noaf},
	{name: "socket unix", nr: unix.SYS_SOCKET, args: [6]uint64{unix.AF_UNIX}, want: allowed},
	{name: "socket inet", nr: unix.SYS_SOCKET, args: [6]uint64{unix.AF_INET}, want: allowed},
	{name: "socket 3", nr: unix.SYS_SOCKET, args: [6]uint64{unix.AF_INET + 1}, want: noaf},
	{name: "socket 9", nr: unix.SYS_SOCKET, args: [6]uint64{unix.AF_INET6 - 1}, want: noaf},
	{name: "socket inet6", nr: unix.SYS_SOCKET, args: [6]uint64{unix.AF_INET6}, want: allowed},
	{name: "socket 11", nr: unix.SYS_SOCKET, args: [6]uint64{unix.AF_INET6 + 1}, want: noaf},
	{name: "netlink route", nr: unix.SYS_SOCKET, args: [6]uint64{unix.AF_NETLINK, unix.SOCK_RAW, unix.NETLINK_ROUTE}, want: allowed, hard: noaf},
	{name: "netlink audit", nr: unix.SYS_SOCKET, args: [6]uint64{unix.AF_NETLINK, unix.SOCK_RAW, unix.NETLINK_AUDIT}, want: noaf},
	{name: "netlink 2", nr: unix.SYS_SOCKET, args: [6]uint64{unix.AF_NETLINK, unix.SOCK_RAW, 2}, want: noaf},
	{name: "socket 15", nr: unix.SYS_SOCKET, args: [6]uint64{unix.AF_NETLINK - 1}, want: noaf},
	{name: "socket packet", nr: unix.SYS_SOCKET, args: [6]uint64{unix.AF_PACKET}, want: noaf},
	{name: "socket alg", nr: unix.SYS_SOCKET, args: [6]uint64{unix.AF_ALG}, want: noaf},
	{name: "socket vsock", nr: unix.SYS_SOCKET, args: [6]uint64{unix.AF_VSOCK}, want: noaf},
	{name: "socket vsock, high bit", nr: unix.SYS_SOCKET, args: [6]uint64{high | unix.AF_VSOCK}, want: noaf},
	{name: "socketpair dgram", nr: unix.SYS_SOCKETPAIR, args: [6]uint64{unix.AF_UNIX, unix.SOCK_DGRAM}, want: allowed},
}

func TestProfiles(t *testing.T) {
	baseline := program(t, seccomp.Options{})
	strict := program(t, seccomp.Options{Strict: true})
	for _, r := range rows {
		if r.hard == 0 {
			r.hard = r.want
		}
		c := call{seccomp.Arch, r.nr, r.args}
		if got := judge(t, baseline, c); got != r.want {
			t.Errorf("baseline: %s: got %#x, want %#x", r.name, got, r.want)
		}
		if got := judge(t, strict, c); got != r.hard {
			t.Errorf("strict: %s: got %#x, want %#x", r.name, got, r.hard)
		}
	}
}

func TestForeignArchitecture(t *testing.T) {
	raw := program(t, seccomp.Options{})
	foreign := []uint32{unix.AUDIT_ARCH_I386, unix.AUDIT_ARCH_ARM, seccomp.Arch ^ 1, seccomp.Arch ^ 0x40000000, 0}
	for _, arch := range foreign {
		for _, r := range rows {
			if got := judge(t, raw, call{arch, r.nr, r.args}); got != enosys {
				t.Errorf("architecture %#x: %s: got %#x, want ENOSYS", arch, r.name, got)
			}
		}
	}
}

// The substitute for a mount namespace: no socket of a path can be reached,
// and a stream pair, which runtimes use for child processes, stays.
func TestNoUnix(t *testing.T) {
	raw := program(t, seccomp.Options{NoUnix: true})
	for _, r := range []row{
		{name: "socket unix", nr: unix.SYS_SOCKET, args: [6]uint64{unix.AF_UNIX, unix.SOCK_STREAM}, want: noaf},
		{name: "socket inet", nr: unix.SYS_SOCKET, args: [6]uint64{unix.AF_INET}, want: allowed},
		{name: "pair stream", nr: unix.SYS_SOCKETPAIR, args: [6]uint64{unix.AF_UNIX, unix.SOCK_STREAM | unix.SOCK_CLOEXEC}, want: allowed},
		{name: "pair dgram", nr: unix.SYS_SOCKETPAIR, args: [6]uint64{unix.AF_UNIX, unix.SOCK_DGRAM | unix.SOCK_NONBLOCK}, want: eperm},
		{name: "pair seqpacket", nr: unix.SYS_SOCKETPAIR, args: [6]uint64{unix.AF_UNIX, unix.SOCK_SEQPACKET}, want: eperm},
	} {
		if got := judge(t, raw, call{seccomp.Arch, r.nr, r.args}); got != r.want {
			t.Errorf("%s: got %#x, want %#x", r.name, got, r.want)
		}
	}
}

func program(t *testing.T, o seccomp.Options) []bpf.RawInstruction {
	t.Helper()
	raw, err := seccomp.Program(o)
	if err != nil {
		t.Fatal(err)
	}
	return raw
}
