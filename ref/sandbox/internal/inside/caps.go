package inside

import (
	"errors"
	"fmt"

	"golang.org/x/sys/unix"

	"bridgecheck/ref/sandbox/internal/wire"
)

// secureBits take from uid 0 what makes it special to execve(2) and setuid(2),
// and lock that; see capabilities(7). x/sys has no names for them.
const secureBits = 0xff &^ (1 << 4) // all of NOROOT, NO_SETUID_FIXUP, NO_CAP_AMBIENT_RAISE, and every lock

// maxCapability bounds the walk over the bounding set; capability sets are 64
// bits wide.
const maxCapability = 63

// dropCapabilities empties all five sets of the calling thread.
func dropCapabilities(level string) error {
	if err := dropBounding(); err != nil {
		// Without a user namespace an unprivileged caller cannot touch its
		// bounding set; no_new_privs then makes it worthless.
		if level != wire.SharedNone || !errors.Is(err, unix.EPERM) {
			return err
		}
	}
	if err := unix.Prctl(unix.PR_CAP_AMBIENT, unix.PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0); err != nil {
		return fmt.Errorf("prctl(PR_CAP_AMBIENT_CLEAR_ALL): %w", err)
	}
	if err := unix.Capset(&capHeader, &noCaps[0]); err != nil {
		return fmt.Errorf("capset: %w", err)
	}
	return nil
}

func dropBounding() error {
	for c := uintptr(0); c <= maxCapability; c++ {
		err := unix.Prctl(unix.PR_CAPBSET_DROP, c, 0, 0, 0)
		if errors.Is(err, unix.EINVAL) {
			break // the kernel's last one was before
		}
		if err != nil {
			return fmt.Errorf("prctl(PR_CAPBSET_DROP, %d): %w", c, err)
		}
	}
	if err := unix.Prctl(unix.PR_SET_SECUREBITS, secureBits, 0, 0, 0); err != nil {
		return fmt.Errorf("prctl(PR_SET_SECUREBITS): %w", err)
	}
	return nil
}
