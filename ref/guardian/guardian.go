// Package guardian looks after what must not outlive the bridge: the runtime
// directory of a phase, its control group, and the mode of a person's terminal. A killed process
// can neither unlink nor restore anything, so a second process does it, in a
// session of its own: it makes the thing, waits for the end of a pipe whose other
// end only the bridge holds, and undoes it.
package guardian

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
)

// Dir is a runtime directory: mode 0700, owned by the caller, empty at first but
// for a marker.
type Dir struct {
	// Path is absolute and free of symbolic links.
	Path string
	*helper
	claim *os.File
}

// Open makes a new directory below base, which is made too if only its last
// element is missing; empty means [os.TempDir]. What earlier bridges of this user
// have left in base, together with their guardians, is removed. Who calls it must
// have called [Main] first thing in main.
func Open(base string) (*Dir, error) {
	if base == "" {
		var err error
		if base, err = filepath.EvalSymlinks(os.TempDir()); err != nil {
			return nil, fmt.Errorf("runtime directory: %w; set TMPDIR to one that exists", err)
		}
	}
	h, err := start(taskDirectory, base, nil)
	if err != nil {
		return nil, fmt.Errorf("runtime directory in %s: %w", base, err)
	}
	d := &Dir{Path: h.answer, helper: h}
	if d.claim, err = claim(d.Path); err != nil {
		return nil, errors.Join(fmt.Errorf("runtime directory %s: %w", d.Path, err), d.Close())
	}
	return d, nil
}

// Close removes the directory with all its content and waits until it is gone.
func (d *Dir) Close() error {
	if d.claim != nil {
		_ = d.claim.Close() // it was only read from
	}
	if d.end() == nil {
		return nil
	}
	// Somebody ended the guardian: then it falls to the bridge.
	if err := os.RemoveAll(d.Path); err != nil {
		return fmt.Errorf("remove the runtime directory: %w", err)
	}
	return nil
}

// Main runs the guardian and does not return when the executable was started
// under the name [Role]; otherwise it returns at once. Call it first in main
// and in TestMain.
func Main() {
	if len(os.Args) != 3 || os.Args[0] != Role {
		return
	}
	signal.Ignore(syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT, syscall.SIGPIPE)
	syscall.Umask(0o077) // the caller's may take the owner's own bits away
	lifeline := os.NewFile(lifelineFD, "lifeline")
	code := 1
	switch os.Args[1] {
	case taskDirectory:
		code = watch(os.Args[2], lifeline, os.Stdout)
	case taskTerminal:
		code = guardTerminal(lifeline, os.Stdout)
	case taskGroup:
		code = guardGroup(os.Args[2], lifeline, os.Stdout)
	case taskNothing:
		reply(os.Stdout, "", nil)
		_, _ = io.Copy(io.Discard, lifeline)
	}
	syscall.Exit(code) // at once: there is nothing to flush, and the bridge waits
}

// watch makes the directory, answers, and removes it at the end of lifeline.
func watch(base string, lifeline io.Reader, answer io.WriteCloser) int {
	made, err := prepare(base)
	defer func() {
		for _, path := range made.parents {
			_ = os.Remove(path) // not empty: another phase uses it too
		}
	}()
	if err == nil {
		err = mark(made.path)
	}
	if !reply(answer, made.path, err) {
		return 1
	}
	sweep(filepath.Dir(made.path))
	_, _ = io.Copy(io.Discard, lifeline)
	if err := os.RemoveAll(made.path); err != nil {
		return 1
	}
	// Again: what a bridge leaves that was killed is held for a moment by the
	// processes that it was about to start.
	sweep(filepath.Dir(made.path))
	return 0
}
