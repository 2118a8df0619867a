package inside

import (
	"errors"
	"fmt"
	"path"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"bridgecheck/ref/sandbox/internal/wire"
)

// root is the new root while it is filled. Every path in it is resolved with
// RESOLVE_IN_ROOT: a link in a declared directory cannot lead a mount outside.
type root struct {
	fd     int
	base   string
	memory int64 // bytes that each tmpfs may hold; 0 is the kernel's default
}

func (r *root) open(p string, flags uint64) (int, error) {
	return unix.Openat2(r.fd, p, &unix.OpenHow{Flags: flags | unix.O_PATH | unix.O_CLOEXEC, Resolve: unix.RESOLVE_IN_ROOT})
}

// parent gives the directory of p, made where it is missing, and p's last name.
func (r *root) parent(p string) (dir int, name string, err error) {
	dir, err = r.open("/", unix.O_DIRECTORY)
	if err != nil {
		return 0, "", fmt.Errorf("open the new root: %w", err)
	}
	parts := strings.Split(strings.Trim(p, "/"), "/")
	for i, part := range parts[:len(parts)-1] {
		above := dir
		sub := path.Join(parts[:i+1]...)
		dir, err = r.open(sub, unix.O_DIRECTORY)
		if errors.Is(err, unix.ENOENT) {
			if err = unix.Mkdirat(above, part, 0o755); err == nil {
				dir, err = r.open(sub, unix.O_DIRECTORY)
			}
		}
		closeFD(above)
		if err != nil {
			return 0, "", fmt.Errorf("make /%s in the new root: %w", sub, err)
		}
	}
	return dir, parts[len(parts)-1], nil
}

// mkdir makes a directory and those above it; one that is there is fine.
func (r *root) mkdir(p string) error {
	dir, name, err := r.parent(p)
	if err != nil {
		return err
	}
	defer closeFD(dir)
	if err := unix.Mkdirat(dir, name, 0o755); err != nil && !errors.Is(err, unix.EEXIST) {
		return fmt.Errorf("make %s in the new root: %w", p, err)
	}
	return nil
}

// file makes an empty file; one that is there is fine.
func (r *root) file(p string) error {
	dir, name, err := r.parent(p)
	if err != nil {
		return err
	}
	defer closeFD(dir)
	if err := unix.Mknodat(dir, name, unix.S_IFREG|0o444, 0); err != nil && !errors.Is(err, unix.EEXIST) {
		return fmt.Errorf("make %s in the new root: %w", p, err)
	}
	return nil
}

// attach puts a source at its own path.
func (r *root) attach(s source) error {
	defer closeFD(s.tree)
	target, err := r.open(s.Path, 0)
	if errors.Is(err, unix.ENOENT) {
		mkpoint := r.file
		if s.Dir {
			mkpoint = r.mkdir
		}
		if err := mkpoint(s.Path); err != nil {
			return err
		}
		target, err = r.open(s.Path, 0)
	}
	if err != nil {
		return fmt.Errorf("open %s in the new root: %w", s.Path, err)
	}
	defer closeFD(target)
	if err := unix.MoveMount(s.tree, "", target, "", unix.MOVE_MOUNT_F_EMPTY_PATH|unix.MOVE_MOUNT_T_EMPTY_PATH); err != nil {
		return fmt.Errorf("move_mount(%s): %w", s.Path, err)
	}
	return nil
}

// link makes a symbolic link where the path does not lead somewhere already.
func (r *root) link(l wire.Link) error {
	if fd, err := r.open(l.Path, 0); err == nil {
		return unix.Close(fd)
	}
	dir, name, err := r.parent(l.Path)
	if err != nil {
		return err
	}
	defer closeFD(dir)
	if err := unix.Symlinkat(l.Target, dir, name); err != nil {
		return fmt.Errorf("symlink %s -> %s in the new root: %w", l.Path, l.Target, err)
	}
	return nil
}

// tmpfs mounts an empty file system. It may hold programs: build tools run what
// they have just written to /tmp.
func (r *root) tmpfs(p, options string) error {
	if err := r.mkdir(p); err != nil {
		return err
	}
	if r.memory > 0 {
		options += ",size=" + strconv.FormatInt(r.memory, 10)
	}
	if err := unix.Mount("sandbox", r.base+p, "tmpfs", unix.MS_NOSUID|unix.MS_NODEV, options); err != nil {
		return fmt.Errorf("mount(%s, tmpfs): %w", p, err)
	}
	return nil
}
