package contain

import (
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// enclose makes this process the root of the tree.
func (g *guard) enclose() error {
	if g.level == ProcessGroup {
		if err := unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); err != nil {
			return fmt.Errorf("become subreaper: %w", err)
		}
		return nil
	}
	// With the host's /proc a server would find a stranger under its own PID.
	if err := unix.Mount("", "/", "", unix.MS_SLAVE|unix.MS_REC, ""); err != nil {
		return fmt.Errorf("make mounts private: %w", err)
	}
	const flags = unix.MS_NOSUID | unix.MS_NODEV | unix.MS_NOEXEC
	if err := unix.Mount("proc", "/proc", "proc", flags, ""); err != nil {
		return fmt.Errorf("mount /proc: %w", err)
	}
	return dropAmbient()
}

// dropAmbient takes back the capability that the mounts needed. Root keeps its
// own: it has nothing in the ambient set.
func dropAmbient() error {
	if os.Geteuid() == 0 {
		return nil
	}
	if err := unix.Prctl(unix.PR_CAP_AMBIENT, unix.PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0); err != nil {
		return fmt.Errorf("clear ambient capabilities: %w", err)
	}
	return nil
}
