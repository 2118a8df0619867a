package inside

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"

	"golang.org/x/sys/unix"

	"bridgecheck/ref/sandbox/internal/wire"
)

// States of a layer.
const (
	on      = "on"
	off     = "off"     // not asked for
	missing = "missing" // not to be had at this level
)

// namespaces are the layers that are namespaces, with their name in
// /proc/self/ns, in the order in which they are told.
var namespaces = []struct{ layer, file string }{
	{"userns", "user"}, {"netns", "net"}, {"pidns", "pid"}, {"mountns", "mnt"}, {"ipcns", "ipc"}, {"utsns", "uts"},
}

// selfCheck reads back, on the thread the agent is forked from, what is in
// force, and gives the layers. What was asked for and is not there is an error.
func selfCheck(cfg *wire.Config, a applied) (map[string]string, error) {
	layers := map[string]string{}
	for _, check := range []func(*wire.Config, applied, map[string]string) error{
		checkNamespaces, checkControlGroups, checkInterfaces, checkMounts, checkStatus, checkDescriptors, checkLandlock, checkSockets,
	} {
		if err := check(cfg, a, layers); err != nil {
			return nil, at("self-check", err)
		}
	}
	layers["limits"] = off
	if cfg.Limits.Any() {
		layers["limits"] = on // set before the exec, or there is none
	}
	return layers, nil
}

func checkNamespaces(cfg *wire.Config, _ applied, layers map[string]string) error {
	for _, ns := range namespaces {
		if cfg.Level == wire.SharedNone || (ns.file == "net" && cfg.Level != wire.Isolated) {
			layers[ns.layer] = missing
			continue
		}
		var st unix.Stat_t
		if err := unix.Stat("/proc/thread-self/ns/"+ns.file, &st); err != nil {
			return fmt.Errorf("stat the %s namespace: %w", ns.file, err)
		}
		if outside := cfg.Outside[ns.file]; outside == 0 || st.Ino == outside {
			return fmt.Errorf("the %s namespace is not the sandbox's own (inode %d, launcher's %d)", ns.file, st.Ino, outside)
		}
		layers[ns.layer] = on
	}
	return nil
}

// ownControlGroups hides where in the host's tree of control groups this is: what
// /proc/self/cgroup tells begins here. Only this thread needs it, from which the
// agent is forked. It is no wall, and some hosts have none to give.
func ownControlGroups() { _ = unix.Unshare(unix.CLONE_NEWCGROUP) }

// checkControlGroups tells of the one namespace that nothing rests on.
func checkControlGroups(cfg *wire.Config, _ applied, layers map[string]string) error {
	layers["cgroupns"] = missing
	var st unix.Stat_t
	if err := unix.Stat("/proc/thread-self/ns/cgroup", &st); err == nil && st.Ino != cfg.Outside["cgroup"] {
		layers["cgroupns"] = on
	}
	return nil
}

// checkDescriptors proves that the agent will inherit 0-2 and the declared
// descriptors only.
func checkDescriptors(cfg *wire.Config, _ applied, layers map[string]string) error {
	dir, err := os.Open("/proc/self/fd")
	if err != nil {
		return err
	}
	defer dir.Close()
	names, err := dir.Readdirnames(-1)
	if err != nil {
		return fmt.Errorf("read /proc/self/fd: %w", err)
	}
	for _, name := range names {
		fd, err := strconv.Atoi(name)
		if err != nil {
			return fmt.Errorf("read /proc/self/fd: %w", err)
		}
		if fd <= 2 || slices.Contains(cfg.Descriptors, fd) {
			continue
		}
		flags, err := unix.FcntlInt(uintptr(fd), unix.F_GETFD, 0)
		if errors.Is(err, unix.EBADF) {
			continue // closed since
		}
		if err != nil || flags&unix.FD_CLOEXEC == 0 {
			return fmt.Errorf("descriptor %d would be inherited by the agent (flags %#x, %w)", fd, flags, err)
		}
	}
	layers["descriptors"] = on
	return nil
}

// checkLandlock tries to read what no rule names.
func checkLandlock(cfg *wire.Config, _ applied, layers map[string]string) error {
	layers["landlock"] = off
	if !cfg.Landlock {
		return nil
	}
	canary := marker
	if cfg.Level == wire.SharedNone {
		canary = "/"
	}
	fd, err := unix.Open(canary, unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err == nil {
		closeFD(fd)
		return fmt.Errorf("landlock is not in force: %s could be read", canary)
	}
	if !errors.Is(err, unix.EACCES) {
		return fmt.Errorf("open %s: %w (wanted: permission denied)", canary, err)
	}
	layers["landlock"] = on
	return nil
}

// checkSockets tells whether a Unix socket in a directory that is declared
// read-only is refused. Permissions do not do that, since to connect is not to
// write: Landlock does from ABI 9 on, and a filter that leaves no such sockets.
func checkSockets(cfg *wire.Config, a applied, layers map[string]string) error {
	layers["sockets"] = missing
	if a.abi >= abiResolveUnix || (cfg.Level == wire.SharedNone && cfg.Seccomp != "off") {
		layers["sockets"] = on
	}
	return nil
}
