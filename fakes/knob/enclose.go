package knob

import (
	"errors"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"strconv"
	"syscall"

	"golang.org/x/sys/unix"
)

// setMax sets the number of namespaces that may be made below the own user
// namespace to 0 (namespaces(7)).
func setMax(kind string) func() error {
	return func() error {
		if err := os.WriteFile("/proc/sys/user/max_"+kind+"_namespaces", []byte("0"), 0); err != nil {
			return err
		}
		return dropAmbient()
	}
}

// intoChroot makes the root of this process another than that of its mount
// namespace, in which nobody may make a user namespace (user_namespaces(7)).
func intoChroot() error {
	cwd, err := os.Getwd()
	if err != nil {
		return fmt.Errorf("find the working directory: %w", err)
	}
	root, err := filepath.EvalSymlinks(os.TempDir())
	if err != nil {
		return fmt.Errorf("find a directory for the root: %w; set TMPDIR", err)
	}
	if err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""); err != nil {
		return fmt.Errorf("make mounts private: %w", err)
	}
	if err := unix.Mount("/", root, "", unix.MS_BIND|unix.MS_REC, ""); err != nil {
		return fmt.Errorf("bind the root: %w", err)
	}
	if err := unix.Chroot(root); err != nil {
		return fmt.Errorf("chroot: %w", err)
	}
	if err := os.Chdir(cwd); err != nil {
		return fmt.Errorf("enter the working directory: %w", err)
	}
	return dropAmbient()
}

// dropAmbient takes back the capabilities that the knob needed; uid 0 keeps its
// own over the namespace.
func dropAmbient() error {
	if err := unix.Prctl(unix.PR_CAP_AMBIENT, unix.PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0); err != nil {
		return fmt.Errorf("clear ambient capabilities: %w", err)
	}
	return nil
}

// stand runs this program again in user and mount namespaces of its own, passes
// signals on and returns how it ended. It gets every descriptor that came to us.
func stand(args []string) (int, error) {
	files, err := inherited()
	if err != nil {
		return 0, err
	}
	uid, gid := os.Getuid(), os.Getgid()
	signals := make(chan os.Signal, 8)
	signal.Notify(signals, unix.SIGTERM, unix.SIGINT, unix.SIGHUP)
	pid, err := syscall.ForkExec("/proc/self/exe", append([]string{"knob"}, args...), &syscall.ProcAttr{
		Env: os.Environ(), Files: files,
		Sys: &syscall.SysProcAttr{
			Cloneflags:  unix.CLONE_NEWUSER | unix.CLONE_NEWNS,
			UidMappings: []syscall.SysProcIDMap{{ContainerID: uid, HostID: uid, Size: 1}},
			GidMappings: []syscall.SysProcIDMap{{ContainerID: gid, HostID: gid, Size: 1}},
			AmbientCaps: []uintptr{unix.CAP_SYS_RESOURCE, unix.CAP_SYS_ADMIN, unix.CAP_SYS_CHROOT},
			Pdeathsig:   unix.SIGKILL,
		},
	})
	if err != nil {
		return 0, fmt.Errorf("make namespaces: %w", err)
	}
	for _, fd := range files {
		if fd != ^uintptr(0) && int(fd) > unix.Stderr {
			_ = syscall.Close(int(fd)) // an end that we hold would keep a pipe open
		}
	}
	go func() {
		for s := range signals {
			_ = unix.Kill(pid, s.(syscall.Signal)) // it may have ended
		}
	}()
	for {
		var status unix.WaitStatus
		switch _, err := unix.Wait4(pid, &status, 0, nil); {
		case errors.Is(err, unix.EINTR):
		case err != nil:
			return 0, fmt.Errorf("wait: %w", err)
		case status.Signaled():
			return 128 + int(status.Signal()), nil
		default:
			return status.ExitStatus(), nil
		}
	}
}

// inherited are the descriptors that came through the exec, each at its own
// place; what this process has opened itself is close-on-exec.
func inherited() ([]uintptr, error) {
	entries, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		return nil, fmt.Errorf("list descriptors: %w", err)
	}
	var files []uintptr
	for _, e := range entries {
		fd, err := strconv.Atoi(e.Name())
		if err != nil {
			continue
		}
		flags, err := unix.FcntlInt(uintptr(fd), unix.F_GETFD, 0)
		if err != nil || flags&unix.FD_CLOEXEC != 0 {
			continue
		}
		for len(files) <= fd {
			files = append(files, ^uintptr(0))
		}
		files[fd] = uintptr(fd)
	}
	return files, nil
}
