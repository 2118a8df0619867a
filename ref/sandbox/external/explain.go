package external

import (
	"strings"

	"golang.org/x/sys/unix"

	"bridgecheck/ref/sandbox"
)

// Explain is the Failed of what a library or a program said when it gave up: its
// words tell the stage and the errno, where they do.
func Explain(said string) *Failed {
	f := &Failed{Stage: sandbox.StageInit, Reason: said}
	low := strings.ToLower(said)
	for _, s := range stages {
		if strings.Contains(low, s.word) {
			f.Stage = s.stage
			break
		}
	}
	if errno := errnoIn(low); errno != 0 {
		f.Errno = unix.ErrnoName(errno)
	}
	return f
}
