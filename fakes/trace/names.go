package trace

import "golang.org/x/sys/unix"

// known is a call with its name and how many arguments it has.
type known struct {
	name  string
	words int
}

// names are the calls that attempts consist of; another is shown by its number.
// All of them exist on each architecture.
var names = map[uint64]known{
	unix.SYS_SOCKET: {"socket", 3}, unix.SYS_SOCKETPAIR: {"socketpair", 4}, unix.SYS_CONNECT: {"connect", 3}, unix.SYS_BIND: {"bind", 3},
	unix.SYS_LISTEN: {"listen", 2}, unix.SYS_ACCEPT4: {"accept4", 4}, unix.SYS_SENDTO: {"sendto", 6}, unix.SYS_RECVFROM: {"recvfrom", 6},
	unix.SYS_SENDMSG: {"sendmsg", 3}, unix.SYS_RECVMSG: {"recvmsg", 3}, unix.SYS_SHUTDOWN: {"shutdown", 2},
	unix.SYS_SETSOCKOPT: {"setsockopt", 5}, unix.SYS_GETSOCKOPT: {"getsockopt", 5},
	unix.SYS_GETSOCKNAME: {"getsockname", 3}, unix.SYS_GETPEERNAME: {"getpeername", 3},
	unix.SYS_OPENAT: {"openat", 4}, unix.SYS_OPENAT2: {"openat2", 4}, unix.SYS_READ: {"read", 3}, unix.SYS_WRITE: {"write", 3},
	unix.SYS_PREAD64: {"pread64", 4}, unix.SYS_CLOSE: {"close", 1}, unix.SYS_IOCTL: {"ioctl", 3}, unix.SYS_FCNTL: {"fcntl", 3},
	unix.SYS_GETDENTS64: {"getdents64", 3}, unix.SYS_READLINKAT: {"readlinkat", 4}, unix.SYS_FACCESSAT: {"faccessat", 3},
	unix.SYS_UNLINKAT: {"unlinkat", 3}, unix.SYS_MKDIRAT: {"mkdirat", 3}, unix.SYS_MKNODAT: {"mknodat", 4}, unix.SYS_DUP3: {"dup3", 3},
	unix.SYS_UNSHARE: {"unshare", 1}, unix.SYS_SETNS: {"setns", 2}, unix.SYS_CLONE: {"clone", 5}, unix.SYS_CLONE3: {"clone3", 2},
	unix.SYS_EXECVE: {"execve", 3}, unix.SYS_EXECVEAT: {"execveat", 5}, unix.SYS_WAIT4: {"wait4", 4}, unix.SYS_WAITID: {"waitid", 5},
	unix.SYS_KILL: {"kill", 2}, unix.SYS_TGKILL: {"tgkill", 3}, unix.SYS_EXIT_GROUP: {"exit_group", 1},
	unix.SYS_MOUNT: {"mount", 5}, unix.SYS_UMOUNT2: {"umount2", 2}, unix.SYS_PIVOT_ROOT: {"pivot_root", 2}, unix.SYS_CHROOT: {"chroot", 1},
	unix.SYS_OPEN_TREE: {"open_tree", 3}, unix.SYS_MOVE_MOUNT: {"move_mount", 5}, unix.SYS_FSOPEN: {"fsopen", 2}, unix.SYS_MOUNT_SETATTR: {"mount_setattr", 5},
	unix.SYS_PTRACE: {"ptrace", 4}, unix.SYS_PIDFD_OPEN: {"pidfd_open", 2}, unix.SYS_PIDFD_GETFD: {"pidfd_getfd", 3},
	unix.SYS_PIDFD_SEND_SIGNAL: {"pidfd_send_signal", 4}, unix.SYS_PROCESS_VM_READV: {"process_vm_readv", 6},
	unix.SYS_IO_URING_SETUP: {"io_uring_setup", 2}, unix.SYS_IO_URING_ENTER: {"io_uring_enter", 6}, unix.SYS_IO_URING_REGISTER: {"io_uring_register", 4},
	unix.SYS_PRCTL: {"prctl", 5}, unix.SYS_SECCOMP: {"seccomp", 3}, unix.SYS_BPF: {"bpf", 3}, unix.SYS_KEYCTL: {"keyctl", 5}, unix.SYS_ADD_KEY: {"add_key", 5},
	unix.SYS_REQUEST_KEY: {"request_key", 4}, unix.SYS_PERF_EVENT_OPEN: {"perf_event_open", 5}, unix.SYS_USERFAULTFD: {"userfaultfd", 1},
	unix.SYS_LANDLOCK_CREATE_RULESET: {"landlock_create_ruleset", 3}, unix.SYS_LANDLOCK_RESTRICT_SELF: {"landlock_restrict_self", 2},
}

// noise is what a runtime does beside any attempt.
var noise = map[uint64]bool{
	unix.SYS_FUTEX: true, unix.SYS_NANOSLEEP: true, unix.SYS_CLOCK_NANOSLEEP: true, unix.SYS_EPOLL_PWAIT: true, unix.SYS_EPOLL_CTL: true,
	unix.SYS_RT_SIGPROCMASK: true, unix.SYS_RT_SIGRETURN: true, unix.SYS_RT_SIGACTION: true, unix.SYS_SIGALTSTACK: true,
	unix.SYS_MMAP: true, unix.SYS_MUNMAP: true, unix.SYS_MADVISE: true, unix.SYS_SCHED_YIELD: true, unix.SYS_RESTART_SYSCALL: true,
	unix.SYS_GETPID: true, unix.SYS_GETTID: true, unix.SYS_CLOCK_GETTIME: true, unix.SYS_SET_ROBUST_LIST: true, unix.SYS_RSEQ: true,
}

// paths tells which argument of a call is a path, counted from 0.
var paths = map[uint64]int{
	unix.SYS_OPENAT: 1, unix.SYS_OPENAT2: 1, unix.SYS_READLINKAT: 1, unix.SYS_FACCESSAT: 1, unix.SYS_UNLINKAT: 1,
	unix.SYS_MKDIRAT: 1, unix.SYS_MKNODAT: 1, unix.SYS_EXECVE: 0, unix.SYS_MOUNT: 1, unix.SYS_UMOUNT2: 0, unix.SYS_PIVOT_ROOT: 0, unix.SYS_CHROOT: 0,
}

// addresses tells which argument is a socket address; the next is its length.
var addresses = map[uint64]int{unix.SYS_CONNECT: 1, unix.SYS_BIND: 1, unix.SYS_SENDTO: 4}
