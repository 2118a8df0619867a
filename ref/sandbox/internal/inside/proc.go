package inside

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strconv"

	"golang.org/x/sys/unix"
)

// masked are files and directories of /proc that tell about the host's memory,
// keys or addresses, whoever asks; the list is that of container runtimes, and
// kallsyms.
var masked = []string{
	"acpi", "asound", "kallsyms", "kcore", "keys", "key-users", "latency_stats", "sched_debug",
	"scsi", "timer_list", "timer_stats", "vmcore",
}

// proc mounts a fresh /proc and closes what in it belongs to the host. A user
// namespace does not: uid 0 of the host is uid 0 there, and without one
// capability it may write kernel.core_pattern or vm.drop_caches. So every entry
// that is not a process, and is a directory or has a write bit, is bound onto
// itself read-only, those that future kernels add as well.
func (r *root) proc() error {
	if err := r.mkdir("/proc"); err != nil {
		return err
	}
	if err := unix.Mount("proc", r.base+"/proc", "proc", unix.MS_NOSUID|unix.MS_NODEV|unix.MS_NOEXEC, ""); err != nil {
		return fmt.Errorf("mount(/proc, proc): %w", err)
	}
	entries, err := os.ReadDir(r.base + "/proc")
	if err != nil {
		return fmt.Errorf("read the new /proc: %w", err)
	}
	for _, e := range entries {
		if _, err := strconv.Atoi(e.Name()); err == nil || e.Type()&fs.ModeSymlink != 0 {
			continue
		}
		info, err := e.Info()
		if err != nil {
			return fmt.Errorf("stat the new /proc: %w", err)
		}
		shut := r.readOnly
		switch {
		case !info.IsDir() && info.Mode()&0o004 == 0:
			shut = r.mask // for root's eyes, which a sandbox of uid 0 has
		case !info.IsDir() && info.Mode()&0o222 == 0:
			continue
		}
		if err := shut("/proc/" + e.Name()); err != nil {
			return err
		}
	}
	for _, name := range masked {
		if err := r.mask("/proc/" + name); err != nil {
			return err
		}
	}
	return nil
}

func (r *root) readOnly(p string) error {
	const attr = unix.MOUNT_ATTR_RDONLY | unix.MOUNT_ATTR_NOSUID | unix.MOUNT_ATTR_NODEV | unix.MOUNT_ATTR_NOEXEC
	tree, err := cloneTree(r.base+p, attr)
	if err != nil {
		return err
	}
	defer closeFD(tree)
	if err := unix.MoveMount(tree, "", unix.AT_FDCWD, r.base+p, unix.MOVE_MOUNT_F_EMPTY_PATH); err != nil {
		return fmt.Errorf("move_mount(%s): %w", p, err)
	}
	return nil
}

// mask covers a file by /dev/null, a directory by an empty read-only one, and
// does nothing where there is none.
func (r *root) mask(p string) error {
	fd, err := r.open(p, 0)
	if errors.Is(err, unix.ENOENT) || errors.Is(err, unix.ENOTDIR) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("open %s in the new root: %w", p, err)
	}
	defer closeFD(fd)
	var st unix.Stat_t
	if err := unix.Fstat(fd, &st); err != nil {
		return fmt.Errorf("stat %s in the new root: %w", p, err)
	}
	over := "/proc/self/fd/" + strconv.Itoa(fd)
	if st.Mode&unix.S_IFMT == unix.S_IFDIR {
		err = unix.Mount("sandbox", over, "tmpfs", unix.MS_RDONLY|unix.MS_NOSUID|unix.MS_NODEV|unix.MS_NOEXEC, "mode=0555")
	} else {
		err = unix.Mount("/dev/null", over, "", unix.MS_BIND, "")
	}
	if err != nil {
		return fmt.Errorf("mask %s: %w", p, err)
	}
	return nil
}
