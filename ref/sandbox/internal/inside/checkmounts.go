package inside

import (
	"errors"
	"fmt"
	"os"
	"strings"

	"golang.org/x/sys/unix"

	"bridgecheck/ref/sandbox/internal/wire"
)

// checkMounts proves that the new root is entered, that nothing of the old one
// is left under it, and that what is shown read-only is.
func checkMounts(cfg *wire.Config, _ applied, _ map[string]string) error {
	if cfg.Level == wire.SharedNone {
		return nil
	}
	if _, err := os.Lstat(marker); err != nil {
		return fmt.Errorf("the new root is not entered: %w", err)
	}
	text, err := os.ReadFile("/proc/thread-self/mountinfo")
	if err != nil {
		return err
	}
	roots := 0
	for line := range strings.Lines(string(text)) {
		const mountPoint = 4 // proc_pid_mountinfo(5)
		if f := strings.Fields(line); len(f) > mountPoint && f[mountPoint] == "/" {
			roots++
		}
	}
	if roots != 1 {
		return fmt.Errorf("%d mounts at /: the old root is still there", roots)
	}
	readOnly := []string{"/", "/proc/sys"}
	for _, m := range cfg.Mounts {
		if !m.Write {
			readOnly = append(readOnly, m.Path)
		}
	}
	for _, p := range readOnly {
		var st unix.Statfs_t
		err := unix.Statfs(p, &st)
		if errors.Is(err, unix.EACCES) {
			continue // this user cannot get there at all
		}
		if err != nil {
			return fmt.Errorf("statfs(%s): %w", p, err)
		}
		if st.Flags&unix.ST_RDONLY == 0 {
			return fmt.Errorf("%s is not read-only", p)
		}
	}
	return nil
}
