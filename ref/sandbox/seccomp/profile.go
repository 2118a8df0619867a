package seccomp

import "golang.org/x/sys/unix"

// Options choose the filter.
type Options struct {
	// Strict adds to the refusals: ptrace altogether, netlink, personality and
	// other calls that agents do without but debuggers do not.
	Strict bool
	// NoUnix refuses socket(AF_UNIX), and socketpair unless it is a stream: the
	// substitute for a mount namespace, since neither Landlock (before ABI 9)
	// nor anything else stops connect(2) to a path. A datagram pair could be
	// sent on to any path.
	NoUnix bool
}

// newest is the highest system call number this filter has an opinion on.
// Numbers from 424 on are the same for every architecture.
const newest = unix.SYS_RSEQ_SLICE_YIELD

// namespaces are the flags of clone(2) and unshare(2) that make one.
// CLONE_NEWTIME lies in the bits that clone uses for the exit signal.
const namespaces = unix.CLONE_NEWNS | unix.CLONE_NEWUTS | unix.CLONE_NEWIPC | unix.CLONE_NEWUSER |
	unix.CLONE_NEWPID | unix.CLONE_NEWNET | unix.CLONE_NEWCGROUP

// missing are answered ENOSYS, as by a kernel that never had them.
var missing = []uint32{
	unix.SYS_CLONE3,
	unix.SYS_IO_URING_SETUP, unix.SYS_IO_URING_ENTER, unix.SYS_IO_URING_REGISTER,
}

// refused are answered EPERM in every profile: other namespaces and mounts,
// other processes' memory and descriptors, keyrings, and the machine itself.
var refused = []uint32{
	unix.SYS_SETNS, unix.SYS_LISTNS, unix.SYS_CHROOT, unix.SYS_PIVOT_ROOT,
	unix.SYS_MOUNT, unix.SYS_UMOUNT2, unix.SYS_MOVE_MOUNT, unix.SYS_OPEN_TREE, unix.SYS_OPEN_TREE_ATTR,
	unix.SYS_FSOPEN, unix.SYS_FSCONFIG, unix.SYS_FSMOUNT, unix.SYS_FSPICK, unix.SYS_MOUNT_SETATTR,
	unix.SYS_OPEN_BY_HANDLE_AT, unix.SYS_FANOTIFY_INIT, unix.SYS_QUOTACTL, unix.SYS_QUOTACTL_FD,
	unix.SYS_PIDFD_GETFD, unix.SYS_PROCESS_VM_READV, unix.SYS_PROCESS_VM_WRITEV, unix.SYS_KCMP,
	unix.SYS_ADD_KEY, unix.SYS_REQUEST_KEY, unix.SYS_KEYCTL,
	unix.SYS_BPF, unix.SYS_PERF_EVENT_OPEN, unix.SYS_USERFAULTFD,
	unix.SYS_INIT_MODULE, unix.SYS_FINIT_MODULE, unix.SYS_DELETE_MODULE,
	unix.SYS_KEXEC_LOAD, unix.SYS_KEXEC_FILE_LOAD, unix.SYS_REBOOT, unix.SYS_ACCT,
	unix.SYS_SWAPON, unix.SYS_SWAPOFF, unix.SYS_SYSLOG, unix.SYS_VHANGUP,
	unix.SYS_SETHOSTNAME, unix.SYS_SETDOMAINNAME, unix.SYS_SETTIMEOFDAY, unix.SYS_CLOCK_SETTIME,
}

// strictly are refused under Options.Strict as well.
var strictly = []uint32{
	unix.SYS_PTRACE, unix.SYS_NAME_TO_HANDLE_AT, unix.SYS_MOVE_PAGES, unix.SYS_MIGRATE_PAGES,
	unix.SYS_MEMFD_SECRET, unix.SYS_PROCESS_MADVISE,
}

// families may be given to socket(2); netlink has a block of its own.
func families(o Options) []uint32 {
	if o.NoUnix {
		return []uint32{unix.AF_INET, unix.AF_INET6}
	}
	return []uint32{unix.AF_UNIX, unix.AF_INET, unix.AF_INET6}
}
