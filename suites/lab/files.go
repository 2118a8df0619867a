package lab

import (
	"fmt"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
)

func prepareFiles(o Order) error {
	if err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""); err != nil {
		return fmt.Errorf("make mounts private: %w", err)
	}
	if err := unix.Mount("proc", "/proc", "proc", unix.MS_NOSUID|unix.MS_NODEV|unix.MS_NOEXEC, ""); err != nil {
		return fmt.Errorf("mount /proc: %w; a container needs unmasked system paths for it", err)
	}
	// The results folder may lie below Root: hold it before Root is covered.
	out, err := unix.OpenTree(unix.AT_FDCWD, o.Out, unix.OPEN_TREE_CLONE|unix.OPEN_TREE_CLOEXEC)
	if err != nil {
		return fmt.Errorf("hold %s: %w", o.Out, err)
	}
	defer unix.Close(out)
	programs, err := holdPrograms(o.Programs)
	if err != nil {
		return err
	}
	if err := unix.Mount("lab", Root, "tmpfs", unix.MS_NOSUID|unix.MS_NODEV, "mode=755"); err != nil {
		return fmt.Errorf("mount %s: %w", Root, err)
	}
	if err := empty(); err != nil {
		return err
	}
	if err := placePrograms(programs); err != nil {
		return err
	}
	for _, dir := range []string{"work", "work/tmp", "out"} {
		if err := ownDir(filepath.Join(Root, dir), o); err != nil {
			return err
		}
	}
	if err := moveMount(out, Root+"/out"); err != nil {
		return err
	}
	if err := os.Chown(Root+"/out", o.UID, o.GID); err != nil {
		return fmt.Errorf("own results: %w", err)
	}
	return coverResolver()
}

// emptied are the folders where a host's daemons and its users keep sockets. The
// lab has its own: a check plants there what an agent must not reach, and
// nothing of the machine is met. Set-uid programs work in them, for a control.
var emptied = []string{"/run", "/tmp"}

func empty() error {
	for _, dir := range emptied {
		// FHS 3.0 has both, yet the image of a container may lack one.
		if err := os.MkdirAll(dir, 0o755); err != nil {
			return fmt.Errorf("make %s: %w", dir, err)
		}
		if err := unix.Mount("lab", dir, "tmpfs", unix.MS_NODEV, "mode=1777"); err != nil {
			return fmt.Errorf("empty %s: %w", dir, err)
		}
	}
	return nil
}

func ownDir(dir string, o Order) error {
	if err := os.Mkdir(dir, 0o755); err != nil {
		return fmt.Errorf("make %s: %w", dir, err)
	}
	if err := os.Chown(dir, o.UID, o.GID); err != nil {
		return fmt.Errorf("own %s: %w", dir, err)
	}
	return nil
}

// holdPrograms clones a mount of every program, by name, so that it is
// reachable although folders above it may be closed to the cell's user.
func holdPrograms(paths map[string]string) (map[string]int, error) {
	held := map[string]int{}
	for name, path := range paths {
		fd, err := unix.OpenTree(unix.AT_FDCWD, path, unix.OPEN_TREE_CLONE|unix.OPEN_TREE_CLOEXEC)
		if err != nil {
			return nil, fmt.Errorf("hold program %s at %s: %w", name, path, err)
		}
		held[name] = fd
	}
	return held, nil
}

func placePrograms(held map[string]int) error {
	if err := os.Mkdir(Root+"/bin", 0o755); err != nil {
		return fmt.Errorf("make bin: %w", err)
	}
	for name, fd := range held {
		path := filepath.Join(Root, "bin", name)
		if err := mountPoint(path, fd); err != nil {
			return fmt.Errorf("place program %s: %w", name, err)
		}
		if err := moveMount(fd, path); err != nil {
			return err
		}
		unix.Close(fd)
	}
	return nil
}

// mountPoint makes a file, or for a folder of programs a folder.
func mountPoint(path string, fd int) error {
	var held unix.Stat_t
	if err := unix.Fstat(fd, &held); err != nil {
		return err
	}
	if held.Mode&unix.S_IFMT == unix.S_IFDIR {
		return os.Mkdir(path, 0o755)
	}
	return os.WriteFile(path, nil, 0o755)
}

func moveMount(fd int, to string) error {
	if err := unix.MoveMount(fd, "", unix.AT_FDCWD, to, unix.MOVE_MOUNT_F_EMPTY_PATH); err != nil {
		return fmt.Errorf("bind %s: %w", to, err)
	}
	return nil
}

// coverResolver points the system's resolver at the lab's DNS server, for
// subjects that use it, and keeps the machine's host table out.
func coverResolver() error {
	for path, content := range map[string]string{
		"/etc/resolv.conf": "nameserver 127.0.0.1\noptions timeout:1 attempts:1\n",
		"/etc/hosts":       "127.0.0.1 localhost\n::1 localhost\n",
	} {
		target, err := filepath.EvalSymlinks(path)
		if err != nil {
			// Not there, or in a folder that was emptied: nothing of the machine can
			// leak through it, and without it 127.0.0.1 is asked, resolv.conf(5).
			continue
		}
		own := filepath.Join(Root, filepath.Base(path))
		if err := os.WriteFile(own, []byte(content), 0o644); err != nil {
			return fmt.Errorf("write %s: %w", own, err)
		}
		if err := unix.Mount(own, target, "", unix.MS_BIND, ""); err != nil {
			return fmt.Errorf("cover %s: %w", path, err)
		}
	}
	return nil
}
