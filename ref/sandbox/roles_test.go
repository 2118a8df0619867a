package sandbox_test

import (
	"errors"
	"fmt"
	"net"
	"os"
	"sort"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// roles are what this binary does as an agent; each prints facts, one
// "name=value" a line, and judges nothing.
var roles = map[string]func(args []string) int{
	"status":  status,
	"fds":     descriptors,
	"calls":   calls,
	"network": network,
	"open":    open,
	"dial":    dial,
}

func asErrno(err error) syscall.Errno {
	var e syscall.Errno
	errors.As(err, &e)
	return e
}

func fact(name string, value any) { fmt.Printf("%s=%v\n", name, value) }

// status prints the kernel's account of this process.
func status([]string) int {
	text, err := os.ReadFile("/proc/self/status")
	if err != nil {
		fact("error", err)
		return 1
	}
	for line := range strings.Lines(string(text)) {
		name, value, _ := strings.Cut(line, ":")
		fact(name, strings.TrimSpace(value))
	}
	fact("uid", os.Getuid())
	fact("sid", func() int { s, _ := unix.Getsid(0); return s }() == os.Getpid())
	_, err = os.Open("/dev/tty")
	fact("tty", errno(err))
	return 0
}

// descriptors prints those that were inherited: close-on-exec ones are the
// runtime's own.
func descriptors([]string) int {
	var all []int
	for fd := range 4096 {
		flags, err := unix.FcntlInt(uintptr(fd), unix.F_GETFD, 0)
		if err == nil && flags&unix.FD_CLOEXEC == 0 {
			all = append(all, fd)
		}
	}
	sort.Ints(all)
	fact("fds", all)
	return 0
}

// calls tries what the filter is to refuse.
func calls([]string) int {
	try := func(name string, nr uintptr, a ...uintptr) {
		a = append(a, 0, 0, 0, 0, 0, 0)
		_, _, e := unix.RawSyscall6(nr, a[0], a[1], a[2], a[3], a[4], a[5])
		if e == 0 {
			fact(name, "ok")
			return
		}
		fact(name, errno(e))
	}
	for family := range 46 {
		try("socket-"+strconv.Itoa(family), unix.SYS_SOCKET, uintptr(family), unix.SOCK_DGRAM, 0)
	}
	try("netlink-audit", unix.SYS_SOCKET, unix.AF_NETLINK, unix.SOCK_RAW, unix.NETLINK_AUDIT)
	try("raw", unix.SYS_SOCKET, unix.AF_INET, unix.SOCK_RAW, unix.IPPROTO_ICMP)
	try("unshare-user", unix.SYS_UNSHARE, unix.CLONE_NEWUSER)
	try("unshare-files", unix.SYS_UNSHARE, unix.CLONE_FILES)
	try("clone3", unix.SYS_CLONE3)
	try("io_uring", unix.SYS_IO_URING_SETUP, 1)
	try("mount", unix.SYS_MOUNT)
	try("ptrace-init", unix.SYS_PTRACE, unix.PTRACE_ATTACH, 1)
	try("keyctl", unix.SYS_KEYCTL)
	try("bpf", unix.SYS_BPF)
	try("pidfd_getfd", unix.SYS_PIDFD_GETFD)
	try("tiocsti", unix.SYS_IOCTL, 0, unix.TIOCSTI)
	try("tiocsti-high", unix.SYS_IOCTL, 0, 1<<32|unix.TIOCSTI)
	try("kill-init", unix.SYS_KILL, 1, 0) // asks only: outside of a PID namespace it is the host's
	return 0
}

// network prints interfaces, routes, and what can be dialled.
func network(args []string) int {
	all, err := net.Interfaces()
	fact("interfaces-error", err)
	for _, i := range all {
		addrs, _ := i.Addrs()
		if i.Flags&net.FlagUp != 0 || len(addrs) > 0 {
			fact("interface-"+i.Name, fmt.Sprint(i.Flags, addrs))
		}
	}
	text, _ := os.ReadFile("/proc/self/net/route")
	fact("routes4", strings.Count(string(text), "\n")-1)
	text, _ = os.ReadFile("/proc/self/net/ipv6_route")
	for line := range strings.Lines(string(text)) {
		f := strings.Fields(line)
		if dev := f[len(f)-1]; dev != "lo" {
			fact("route6-"+dev, line)
		}
	}
	for _, target := range args {
		c, err := net.DialTimeout("tcp", target, 5*time.Second)
		if err == nil {
			c.Close()
		}
		fact("dial-"+target, errno(err))
		l, err := net.Listen("tcp", target)
		if err == nil {
			l.Close()
		}
		fact("listen-"+target, errno(err))
	}
	fact("lo-down", errno(lower()))
	_, err = net.LookupHost("example.com")
	fact("lookup", err != nil)
	return 0
}

func lower() error {
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM, 0)
	if err != nil {
		return err
	}
	lo, err := unix.NewIfreq("lo")
	if err != nil {
		return err
	}
	return unix.IoctlIfreq(fd, unix.SIOCSIFFLAGS, lo) // flags 0: down
}

// open opens each path for reading and, unless it is a directory, for writing.
func open(paths []string) int {
	for _, p := range paths {
		f, err := os.Open(p)
		if err == nil {
			f.Close()
		}
		fact("read-"+p, errno(err))
		f, err = os.OpenFile(p, os.O_WRONLY, 0)
		if err == nil {
			f.Close()
		}
		fact("write-"+p, errno(err))
	}
	return 0
}

// dial says hello to each address and prints what came back.
func dial(targets []string) int {
	for _, target := range targets {
		kind := "tcp"
		if strings.HasPrefix(target, "/") || strings.HasPrefix(target, "@") {
			kind = "unix"
		}
		c, err := net.DialTimeout(kind, target, 5*time.Second)
		if err != nil {
			fact(target, errno(err))
			continue
		}
		b := make([]byte, 64)
		n, _ := c.Read(b)
		fact(target, string(b[:n]))
		c.Close()
	}
	return 0
}
