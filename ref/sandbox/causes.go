package sandbox

import (
	"os"
	"slices"
	"strings"
	"syscall"
)

// cause is one reason for which hosts refuse a step, and its fix.
type cause struct {
	stages []string
	errnos []syscall.Errno
	text   string
	judge  func() likelihood // nil where this host does not tell
}

// likelihood is what this host tells about a cause.
type likelihood int

const (
	possible likelihood = iota
	certain
	impossible
)

var cloneStage = []string{StageClone}

// knownCauses are told in this order within one certainty.
var knownCauses = []cause{
	limitCause("user"), limitCause("net"), limitCause("pid"), limitCause("mnt"), limitCause("ipc"), limitCause("uts"),
	{cloneStage, []syscall.Errno{syscall.ENOSPC, syscall.EUSERS}, "namespaces are nested too deeply (32 levels): start from a namespace further out", nil},
	{cloneStage, []syscall.Errno{syscall.EPERM}, "unprivileged user namespaces are off: sysctl -w kernel.unprivileged_userns_clone=1", switched("kernel/unprivileged_userns_clone", "0")},
	{cloneStage, []syscall.Errno{syscall.EPERM, syscall.EACCES}, "AppArmor restricts unprivileged user namespaces: install a profile for this program that has \"userns,\", or sysctl -w kernel.apparmor_restrict_unprivileged_userns=0", switched("kernel/apparmor_restrict_unprivileged_userns", "1")},
	{cloneStage, []syscall.Errno{syscall.EPERM, syscall.ENOSYS}, "a seccomp filter (a container's default profile) refuses new namespaces: run the container with --security-opt seccomp=unconfined, or a profile that allows clone and unshare", filtered},
	{cloneStage, []syscall.Errno{syscall.EPERM}, "the process is in a chroot: enter the root by pivot_root, or start outside of it", nil},
	{cloneStage, []syscall.Errno{syscall.EPERM}, "this user or group is not mapped in its user namespace, or uid 0 lacks CAP_SETFCAP, which mapping 0 needs: add the capability, or run as another user", nil},
	{cloneStage, []syscall.Errno{syscall.EINVAL, syscall.ENOSYS}, "the kernel is built without a namespace (CONFIG_USER_NS, CONFIG_NET_NS, CONFIG_PID_NS): use another kernel", nil},
	{cloneStage, []syscall.Errno{syscall.ENOENT}, "/proc is not mounted: mount it", nil},
	{cloneStage, []syscall.Errno{syscall.EAGAIN, syscall.ENOMEM}, "the user's processes or the memory are used up: raise ulimit -u or the container's limits", nil},

	{[]string{StageLoopback}, []syscall.Errno{syscall.EPERM, syscall.EACCES}, "AppArmor takes the capabilities of an unprivileged user namespace (profile unprivileged_userns): install a profile for this program that has \"userns,\", or sysctl -w kernel.apparmor_restrict_unprivileged_userns=0", switched("kernel/apparmor_restrict_unprivileged_userns", "1")},
	{[]string{StageLoopback, StageListen}, []syscall.Errno{syscall.EPERM, syscall.EACCES, syscall.ENOSYS, syscall.EAFNOSUPPORT}, "a seccomp filter refuses sockets or interface requests: run with --security-opt seccomp=unconfined", filtered},
	{[]string{StageListen}, []syscall.Errno{syscall.EADDRINUSE}, "a port is listed twice: name each once", nil},

	{[]string{StageMounts, StagePivot, StageProc}, []syscall.Errno{syscall.EPERM, syscall.EACCES}, "AppArmor or SELinux forbids mounting in a user namespace: sysctl -w kernel.apparmor_restrict_unprivileged_userns=0, a profile with \"userns,\" and \"mount,\", or --security-opt apparmor=unconfined", switched("kernel/apparmor_restrict_unprivileged_userns", "1")},
	{[]string{StageProc}, []syscall.Errno{syscall.EPERM}, "the container masks parts of /proc, so that no fresh one may be mounted: run with --security-opt systempaths=unconfined (podman: --security-opt unmask=ALL)", nil},
	{[]string{StageMounts, StagePivot, StageProc}, []syscall.Errno{syscall.EPERM, syscall.ENOSYS}, "a seccomp filter refuses mount calls: run with --security-opt seccomp=unconfined", filtered},
	{[]string{StageMounts}, []syscall.Errno{syscall.ENOSYS}, "the kernel is older than 5.12 (mount_setattr): use a newer one", nil},
	{[]string{StagePaths}, []syscall.Errno{syscall.EACCES}, "a declared path belongs to another user: the user of the sandbox, root too, has no more rights to it than its permissions give; declare one that this user can reach, or change its permissions", nil},
	{[]string{StagePaths}, []syscall.Errno{syscall.ENOENT, syscall.ENOTDIR, syscall.ELOOP}, "a declared path has changed since the launch began: start again", nil},
	{[]string{StagePivot}, []syscall.Errno{syscall.EINVAL, syscall.EPERM}, "the root is the initial ramfs or a chroot: start from a root that is a mount of its own", nil},

	{[]string{StageCapabilities}, []syscall.Errno{syscall.EPERM}, "CAP_SETPCAP was taken from the new user namespace (AppArmor profile unprivileged_userns): install a profile for this program that has \"userns,\"", switched("kernel/apparmor_restrict_unprivileged_userns", "1")},
	{[]string{StageLandlock}, []syscall.Errno{syscall.ENOSYS}, "the kernel is built without Landlock (CONFIG_SECURITY_LANDLOCK, 5.13 or newer): use another kernel", nil},
	{[]string{StageLandlock}, []syscall.Errno{syscall.ENOSYS, syscall.EPERM}, "a seccomp filter (a container's profile) refuses landlock_*: run with --security-opt seccomp=unconfined", filtered},
	{[]string{StageLandlock}, []syscall.Errno{syscall.EOPNOTSUPP}, "Landlock is built in but off: add landlock to the kernel's lsm= boot parameter", noLandlockLSM},
	{[]string{StageLandlock}, []syscall.Errno{syscall.E2BIG}, "16 Landlock rulesets are already stacked: start outside of them", nil},
	{[]string{StageSeccomp}, []syscall.Errno{syscall.EINVAL, syscall.ENOSYS}, "the kernel is built without CONFIG_SECCOMP_FILTER: use another kernel", nil},
	{[]string{StageSeccomp}, []syscall.Errno{syscall.EPERM}, "an outer seccomp filter refuses another one: run with --security-opt seccomp=unconfined", filtered},
	{[]string{StageLimits}, []syscall.Errno{0}, "the launcher runs as root, without control groups of its own: run it as another user, or give it the controllers, or leave the limit of processes out", nil},
	{[]string{StageDescriptors}, []syscall.Errno{syscall.ENOSYS, syscall.EINVAL, syscall.EPERM}, "the kernel is older than 5.11 (close_range with CLOEXEC), or a seccomp filter refuses it: use a newer kernel or container runtime", nil},
}

// causes gives those that fit, the certain ones first.
func causes(stage string, errno syscall.Errno) []string {
	var first, rest []string
	for _, c := range knownCauses {
		if !slices.Contains(c.stages, stage) || !slices.Contains(c.errnos, errno) {
			continue
		}
		l := possible
		if c.judge != nil {
			l = c.judge()
		}
		switch l {
		case certain:
			first = append(first, c.text+" (so on this host)")
		case possible:
			rest = append(rest, c.text)
		}
	}
	return append(first, rest...)
}

// limitCause is the sysctl that bounds namespaces of one kind; a limit above 0
// may still be reached.
func limitCause(kind string) cause {
	text := "the limit of " + kind + " namespaces is 0 or reached: sysctl -w user.max_" + kind + "_namespaces=15000"
	return cause{cloneStage, []syscall.Errno{syscall.ENOSPC}, text, func() likelihood {
		if sysctl("user/max_"+kind+"_namespaces") == "0" {
			return certain
		}
		return possible
	}}
}

// switched judges a cause by a sysctl that is either so or not.
func switched(name, value string) func() likelihood {
	return func() likelihood {
		if sysctl(name) == value {
			return certain
		}
		return impossible
	}
}

func sysctl(name string) string {
	text, err := os.ReadFile("/proc/sys/" + name)
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(text))
}

// filtered judges whether a seccomp filter can be the cause: only when there is
// one, and what it refuses cannot be asked.
func filtered() likelihood {
	text, err := os.ReadFile("/proc/self/status")
	if err == nil && strings.Contains(string(text), "\nSeccomp:\t0\n") {
		return impossible
	}
	return possible
}

func noLandlockLSM() likelihood {
	text, err := os.ReadFile("/sys/kernel/security/lsm")
	if err == nil && !strings.Contains(string(text), "landlock") {
		return certain
	}
	return possible
}
