package sandbox_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/net/bpf"
	"golang.org/x/sys/unix"

	"bridgecheck/ref/sandbox"
	"bridgecheck/ref/sandbox/seccomp"
)

// knob is a denied environment, made in a process of its own.
type knob struct {
	name    string
	apply   func() error
	userNS  bool // the process needs a user and mount namespace of its own for it
	level   sandbox.Level
	stage   string
	errno   syscall.Errno
	cause   string // what one of the causes must hold
	certain bool   // and it must be the first one, known to be so
}

var knobs = []knob{
	{name: "max-user-ns", apply: maxNamespaces("user"), userNS: true, stage: sandbox.StageClone, errno: syscall.ENOSPC, cause: "user.max_user_namespaces", certain: true},
	{name: "max-net-ns", apply: maxNamespaces("net"), userNS: true, stage: sandbox.StageClone, errno: syscall.ENOSPC, cause: "user.max_net_namespaces", certain: true},
	{name: "max-pid-ns", apply: maxNamespaces("pid"), userNS: true, stage: sandbox.StageClone, errno: syscall.ENOSPC, cause: "user.max_pid_namespaces", certain: true},
	{name: "deny-userns", apply: denied(syscall.EPERM, unix.SYS_CLONE, 0, unix.CLONE_NEWUSER), stage: sandbox.StageClone, errno: syscall.EPERM, cause: "seccomp"},
	{name: "deny-netns", apply: denied(syscall.EPERM, unix.SYS_CLONE, 0, unix.CLONE_NEWNET), stage: sandbox.StageClone, errno: syscall.EPERM, cause: "seccomp"},
	{name: "chroot", apply: inChroot, userNS: true, stage: sandbox.StageClone, errno: syscall.EPERM, cause: "chroot"},
	{name: "deny-lo-up", apply: denied(syscall.EPERM, unix.SYS_IOCTL, 1, unix.SIOCSIFFLAGS), stage: sandbox.StageLoopback, errno: syscall.EPERM, cause: "seccomp"},
	{name: "deny-mount", apply: denied(syscall.EPERM, unix.SYS_MOUNT, 0, 0), stage: sandbox.StageMounts, errno: syscall.EPERM, cause: "seccomp"},
	{name: "old-kernel", apply: denied(syscall.ENOSYS, unix.SYS_MOUNT_SETATTR, 0, 0), stage: sandbox.StageMounts, errno: syscall.ENOSYS, cause: "5.12"},
	{name: "deny-pivot", apply: denied(syscall.EPERM, unix.SYS_PIVOT_ROOT, 0, 0), stage: sandbox.StagePivot, errno: syscall.EPERM, cause: "seccomp"},
	{name: "no-landlock", apply: denied(syscall.ENOSYS, unix.SYS_LANDLOCK_CREATE_RULESET, 0, 0), stage: sandbox.StageLandlock, errno: syscall.ENOSYS, cause: "CONFIG_SECURITY_LANDLOCK"},
	{name: "landlock-off", apply: denied(syscall.EOPNOTSUPP, unix.SYS_LANDLOCK_CREATE_RULESET, 0, 0), stage: sandbox.StageLandlock, errno: syscall.EOPNOTSUPP, cause: "lsm="},
	{name: "no-landlock-at-shared-none", apply: denied(syscall.ENOSYS, unix.SYS_LANDLOCK_CREATE_RULESET, 0, 0), level: sandbox.SharedNone, stage: sandbox.StageLandlock, errno: syscall.ENOSYS, cause: "CONFIG_SECURITY_LANDLOCK"},
	{name: "no-seccomp", apply: denied(syscall.EINVAL, unix.SYS_SECCOMP, 0, 0), stage: sandbox.StageSeccomp, errno: syscall.EINVAL, cause: "CONFIG_SECCOMP_FILTER"},
}

// The kernel says "done" and does nothing: only reading back finds out.
func init() {
	for _, k := range []knob{
		{name: "no-op-seccomp", apply: denied(0, unix.SYS_SECCOMP, 0, 0)},
		{name: "no-op-landlock", apply: denied(0, unix.SYS_LANDLOCK_RESTRICT_SELF, 0, 0)},
		{name: "no-op-bounding-set", apply: denied(0, unix.SYS_PRCTL, 0, unix.PR_CAPBSET_DROP)},
		{name: "no-op-close-range", apply: func() error {
			return errors.Join(denied(0, unix.SYS_CLOSE_RANGE, 0, 0)(), unix.Dup3(2, 900, 0))
		}},
		{name: "no-op-lo-up", apply: denied(0, unix.SYS_IOCTL, 1, unix.SIOCSIFFLAGS)},
		{name: "no-op-read-only", apply: denied(0, unix.SYS_MOUNT_SETATTR, 0, 0)},
		{name: "no-op-pivot", apply: denied(0, unix.SYS_PIVOT_ROOT, 0, 0), errno: syscall.ENOENT},
		{name: "no-op-umount", apply: denied(0, unix.SYS_UMOUNT2, 0, 0)},
	} {
		k.stage = sandbox.StageSelfCheck
		knobs = append(knobs, k)
	}
}

func init() {
	roles["knob"] = func(args []string) int {
		// The filters are this thread's, and so are its children's.
		runtime.LockOSThread()
		i := slices.IndexFunc(knobs, func(k knob) bool { return k.name == args[0] })
		if err := knobs[i].apply(); err != nil {
			fmt.Println("knob:", err)
			return 3
		}
		spec := sandbox.Spec{Path: "/bin/sh", Args: []string{"-c", "echo ran"}, Level: knobs[i].level, Stdout: os.Stdout, Landlock: true}
		if spec.Level == sandbox.SharedNone {
			spec.Cwd = "/"
		}
		_, err := sandbox.Launch(bare(), spec)
		var failure *sandbox.Failure
		if !errors.As(err, &failure) {
			fmt.Println("not a failure:", err)
			return 4
		}
		if err := json.NewEncoder(os.Stdout).Encode(failure); err != nil {
			return 5
		}
		var ws unix.WaitStatus
		if _, err := unix.Wait4(-1, &ws, unix.WNOHANG, nil); !errors.Is(err, unix.ECHILD) {
			fmt.Println("a child is left:", err)
			return 6
		}
		return 0
	}
}

func TestKnobs(t *testing.T) {
	needNamespaces(t)
	for _, k := range knobs {
		t.Run(k.name, func(t *testing.T) {
			cmd := exec.Command(self(t), "knob", k.name)
			cmd.Env = append(os.Environ(), "TMPDIR="+t.TempDir())
			if k.userNS {
				cmd.SysProcAttr = &syscall.SysProcAttr{
					Cloneflags:  syscall.CLONE_NEWUSER | syscall.CLONE_NEWNS,
					UidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getuid(), Size: 1}},
					GidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getgid(), Size: 1}},
				}
			}
			out, err := cmd.CombinedOutput()
			if err != nil {
				t.Fatalf("%v: %s", err, out)
			}
			var got sandbox.Failure
			if err := json.Unmarshal(out, &got); err != nil {
				t.Fatalf("%v: %s", err, out)
			}
			if got.Stage != k.stage || got.Errno != k.errno {
				t.Errorf("got stage %s, errno %d (%v), want %s, %d (%v)", got.Stage, got.Errno, got.Errno, k.stage, k.errno, k.errno)
			}
			at := slices.IndexFunc(got.Causes, func(c string) bool { return strings.Contains(c, k.cause) })
			if k.cause == "" {
				return
			}
			if at < 0 || k.certain && (at != 0 || !strings.Contains(got.Causes[0], "so on this host")) {
				t.Errorf("no cause (certain: %v) holds %q: %q", k.certain, k.cause, got.Causes)
			}
		})
	}
}

func maxNamespaces(kind string) func() error {
	return func() error { return os.WriteFile("/proc/sys/user/max_"+kind+"_namespaces", []byte("0"), 0) }
}

// denied answers a system call with an errno, always or where an argument has
// one of some bits (or the value, for ioctl, prctl and socket). Errno 0 answers that it
// was done, although it was not.
func denied(errno syscall.Errno, nr uint32, arg, bits uint32) func() error {
	return func() error {
		verdict := bpf.RetConstant{Val: unix.SECCOMP_RET_ERRNO | uint32(errno)}
		p := []bpf.Instruction{bpf.LoadAbsolute{Off: 0, Size: 4}, bpf.JumpIf{Cond: bpf.JumpNotEqual, Val: nr, SkipTrue: 3}}
		switch {
		case bits == 0:
			p[1] = bpf.JumpIf{Cond: bpf.JumpNotEqual, Val: nr, SkipTrue: 1}
		case nr == unix.SYS_IOCTL, nr == unix.SYS_PRCTL, nr == unix.SYS_SOCKET:
			p = append(p, bpf.LoadAbsolute{Off: 16 + 8*arg, Size: 4}, bpf.JumpIf{Cond: bpf.JumpNotEqual, Val: bits, SkipTrue: 1})
		default:
			p = append(p, bpf.LoadAbsolute{Off: 16 + 8*arg, Size: 4}, bpf.JumpIf{Cond: bpf.JumpBitsNotSet, Val: bits, SkipTrue: 1})
		}
		p = append(p, verdict, bpf.RetConstant{Val: unix.SECCOMP_RET_ALLOW})
		raw, err := bpf.Assemble(p)
		if err != nil {
			return err
		}
		if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
			return err
		}
		return seccomp.Install(raw)
	}
}

// inChroot makes the root something else than the mount namespace's.
func inChroot() error {
	dir, err := os.MkdirTemp("", "chroot-")
	if err != nil {
		return err
	}
	if err := unix.Mount("", "/", "", unix.MS_PRIVATE|unix.MS_REC, ""); err != nil {
		return err
	}
	if err := unix.Mount("/", dir, "", unix.MS_BIND|unix.MS_REC, ""); err != nil {
		return err
	}
	if err := unix.Chroot(dir); err != nil {
		return err
	}
	return unix.Chdir("/")
}

// A host without IPv6 gives the IPv4 doors, and says no more.
func TestNoIPv6(t *testing.T) {
	needNamespaces(t)
	out, err := exec.Command(self(t), "no-ipv6").CombinedOutput()
	if err != nil || string(out) != "18080 false\n" {
		t.Errorf("got %q, %v, want one IPv4 door", out, err)
	}
}

func init() {
	roles["no-ipv6"] = func([]string) int {
		runtime.LockOSThread()
		if err := denied(syscall.EAFNOSUPPORT, unix.SYS_SOCKET, 0, unix.AF_INET6)(); err != nil {
			fmt.Println(err)
			return 1
		}
		s, err := sandbox.Launch(bare(), sandbox.Spec{Path: "/bin/true", Ports: []uint16{18080}})
		if err != nil {
			fmt.Println(err)
			return 1
		}
		for _, l := range s.Listeners() {
			fmt.Println(l.Port, l.V6)
		}
		_ = s.Kill()
		_, _ = s.Wait()
		return 0
	}
}
