package inside

import (
	"errors"
	"fmt"
	"os"

	"golang.org/x/sys/unix"

	"bridgecheck/ref/sandbox/internal/wire"
)

// source is a detached copy of one declared host path, held by descriptor so
// that nothing mounted later can hide or replace it.
type source struct {
	wire.Mount
	tree int
}

// newRoot replaces the root by a small one: the declared paths, a private /tmp
// and /dev, a fresh /proc. What is not declared has no name inside, so a host
// socket at any path is ENOENT.
func newRoot(cfg *wire.Config) error {
	if err := unix.Mount("", "/", "", unix.MS_PRIVATE|unix.MS_REC, ""); err != nil {
		return at("mounts", fmt.Errorf("mount(/, MS_PRIVATE): %w", err))
	}
	sources, err := openSources(cfg.Mounts)
	if err != nil {
		return at("mounts", err)
	}
	nodes, err := openDevices()
	if err != nil {
		return at("mounts", err)
	}
	r, err := plant(cfg.Limits.Memory)
	if err != nil {
		return at("mounts", err)
	}
	if err := at("proc", r.proc()); err != nil {
		return err
	}
	if err := at("mounts", r.furnish(cfg, sources, nodes)); err != nil {
		return err
	}
	return at("pivot", r.enter(cfg.Cwd))
}

func openSources(mounts []wire.Mount) ([]source, error) {
	all := make([]source, 0, len(mounts))
	for _, m := range mounts {
		attr := uint64(unix.MOUNT_ATTR_NOSUID | unix.MOUNT_ATTR_NODEV)
		if !m.Write {
			attr |= unix.MOUNT_ATTR_RDONLY
		}
		tree, err := cloneTree(m.Source, attr)
		if err != nil {
			return nil, err
		}
		all = append(all, source{m, tree})
	}
	return all, nil
}

// cloneTree copies the mounts at and below a path of the host, with attributes
// added. RESOLVE_NO_SYMLINKS holds the path to what the launcher resolved.
func cloneTree(path string, attr uint64) (int, error) {
	fd, err := unix.Openat2(unix.AT_FDCWD, path, &unix.OpenHow{Flags: unix.O_PATH | unix.O_CLOEXEC, Resolve: unix.RESOLVE_NO_SYMLINKS})
	if err != nil {
		return 0, at("paths", fmt.Errorf("open %s: %w", path, err))
	}
	defer closeFD(fd)
	// Recursive always: a mount of a less privileged namespace may not be parted
	// from the locked mounts on it.
	tree, err := unix.OpenTree(fd, "", unix.AT_EMPTY_PATH|unix.AT_RECURSIVE|unix.OPEN_TREE_CLONE|unix.OPEN_TREE_CLOEXEC)
	if err != nil {
		return 0, fmt.Errorf("open_tree(%s): %w", path, err)
	}
	if err := setAttr(tree, "", attr, unix.AT_EMPTY_PATH|unix.AT_RECURSIVE); err != nil {
		return 0, fmt.Errorf("mount_setattr(%s): %w", path, err)
	}
	return tree, nil
}

func setAttr(dirfd int, path string, attr uint64, flags uint) error {
	return unix.MountSetattr(dirfd, path, flags, &unix.MountAttr{Attr_set: attr})
}

// bases are directories over which the new root may be mounted until it is
// entered; the first that is there is taken.
var bases = []string{"/tmp", "/run", "/mnt", "/usr", "/etc"}

func plant(memory int64) (*root, error) {
	for _, base := range bases {
		if st, err := os.Lstat(base); err != nil || !st.IsDir() {
			continue
		}
		if err := unix.Mount("sandbox", base, "tmpfs", unix.MS_NOSUID|unix.MS_NODEV, "mode=0755"); err != nil {
			return nil, fmt.Errorf("mount(%s, tmpfs): %w", base, err)
		}
		fd, err := unix.Open(base, unix.O_PATH|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
		if err != nil {
			return nil, fmt.Errorf("open %s: %w", base, err)
		}
		return &root{fd: fd, base: base, memory: memory}, nil
	}
	return nil, errors.New("no directory to mount the new root on: none of /tmp, /run, /mnt, /usr, /etc exists")
}

// marker is a file of the new root that no Landlock rule lets anyone read: the
// self-check tries to.
const marker = "/.sandbox"

// furnish fills the root. Mounts come parents first, as the launcher sorted
// them; links last, when it is known which of them the mounts already hold.
func (r *root) furnish(cfg *wire.Config, sources []source, nodes []source) error {
	if err := r.tmpfs("/tmp", "mode=1777"); err != nil {
		return err
	}
	if err := r.dev(nodes); err != nil {
		return err
	}
	for _, s := range sources {
		if err := r.attach(s); err != nil {
			return err
		}
	}
	for _, path := range secrets {
		if err := r.mask(path); err != nil {
			return err
		}
	}
	for _, l := range cfg.Links {
		if err := r.link(l); err != nil {
			return err
		}
	}
	return r.file(marker)
}

// secrets are never shown, also when a directory above them is declared: the
// sandbox of uid 0 reads what uid 0 reads.
var secrets = []string{"/etc/shadow", "/etc/shadow-", "/etc/gshadow", "/etc/gshadow-", "/etc/security/opasswd"}

// enter makes the new root the root of this mount namespace, drops the old one,
// and makes the frame itself read-only.
func (r *root) enter(cwd string) error {
	if err := unix.Fchdir(r.fd); err != nil {
		return fmt.Errorf("fchdir(new root): %w", err)
	}
	// The old root is stacked on the new one at "/", see pivot_root(2) NOTES.
	if err := unix.PivotRoot(".", "."); err != nil {
		return fmt.Errorf("pivot_root: %w", err)
	}
	if err := unix.Unmount(".", unix.MNT_DETACH); err != nil {
		return fmt.Errorf("umount2(old root): %w", err)
	}
	if err := setAttr(unix.AT_FDCWD, "/", unix.MOUNT_ATTR_RDONLY, 0); err != nil {
		return fmt.Errorf("mount_setattr(/, read-only): %w", err)
	}
	closeFD(r.fd)
	if err := unix.Chdir(cwd); err != nil {
		return fmt.Errorf("chdir(%s): %w", cwd, err)
	}
	return nil
}

// closeFD closes a descriptor that was only read from.
func closeFD(fd int) { _ = unix.Close(fd) }
