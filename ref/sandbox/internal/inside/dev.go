package inside

import (
	"fmt"
	"os"

	"golang.org/x/sys/unix"

	"bridgecheck/ref/sandbox/internal/wire"
)

// devices are all the nodes of the private /dev. A user namespace cannot make
// nodes, so each is a bind of the host's. /dev/tty stands for the caller's own
// controlling terminal: without one it is ENXIO, and with one of the agent's
// making it is that one.
var devices = []string{"null", "zero", "full", "random", "urandom", "tty"}

func openDevices() ([]source, error) {
	var all []source
	for _, name := range devices {
		path := "/dev/" + name
		if _, err := os.Lstat(path); os.IsNotExist(err) {
			continue // a container may lack /dev/tty or /dev/full
		}
		tree, err := cloneTree(path, unix.MOUNT_ATTR_NOSUID|unix.MOUNT_ATTR_NOEXEC)
		if err != nil {
			return nil, err
		}
		all = append(all, source{wire.Mount{Path: path}, tree})
	}
	return all, nil
}

func (r *root) dev(nodes []source) error {
	if err := r.tmpfs("/dev", "mode=0755"); err != nil {
		return err
	}
	for _, n := range nodes {
		if err := r.attach(n); err != nil {
			return err
		}
	}
	if err := r.mkdir("/dev/pts"); err != nil {
		return err
	}
	if err := unix.Mount("sandbox", r.base+"/dev/pts", "devpts", unix.MS_NOSUID|unix.MS_NOEXEC, "newinstance,ptmxmode=0666,mode=0600"); err != nil {
		return fmt.Errorf("mount(/dev/pts, devpts): %w", err)
	}
	if err := r.tmpfs("/dev/shm", "mode=1777"); err != nil {
		return err
	}
	for _, l := range []wire.Link{
		{Path: "/dev/ptmx", Target: "pts/ptmx"},
		{Path: "/dev/fd", Target: "/proc/self/fd"},
		{Path: "/dev/stdin", Target: "fd/0"},
		{Path: "/dev/stdout", Target: "fd/1"},
		{Path: "/dev/stderr", Target: "fd/2"},
	} {
		if err := r.symlink(l); err != nil {
			return err
		}
	}
	return nil
}

func (r *root) symlink(l wire.Link) error {
	if err := os.Symlink(l.Target, r.base+l.Path); err != nil {
		return fmt.Errorf("symlink in the new root: %w", err)
	}
	return nil
}
