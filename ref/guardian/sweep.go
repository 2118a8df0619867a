package guardian

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// marker is a file in every runtime directory. It is made once the guardian holds
// its lock on the directory: one that has the marker and no lock has nobody.
const marker = ".bridge"

// claim locks a directory against being swept, as long as the file is open. Both
// the guardian and the bridge hold one: either may be killed alone.
func claim(dir string) (*os.File, error) {
	f, err := os.OpenFile(dir, os.O_RDONLY|syscall.O_DIRECTORY|syscall.O_NOFOLLOW, 0)
	if err != nil {
		return nil, err
	}
	// Network file systems know no lock of a directory: there nothing is swept,
	// since no marker is made.
	if err := unix.Flock(int(f.Fd()), unix.LOCK_SH|unix.LOCK_NB); errors.Is(err, unix.EWOULDBLOCK) {
		return nil, errors.Join(errors.New("another bridge is removing it"), f.Close())
	}
	return f, nil
}

// mark claims a new directory for the life of this process and marks it as one
// that may be swept afterwards.
func mark(dir string) error {
	fd, err := unix.Open(dir, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
	if err != nil {
		return fmt.Errorf("open %s: %w", dir, err)
	}
	if unix.Flock(fd, unix.LOCK_SH|unix.LOCK_NB) != nil {
		return unix.Close(fd) // see claim
	}
	// The descriptor stays open, and the lock with it.
	return os.WriteFile(filepath.Join(dir, marker), nil, 0o600)
}

// sweep removes what bridges of this user have left in base that were killed
// together with their guardians.
func sweep(base string) {
	entries, err := os.ReadDir(base)
	if err != nil {
		return // a base that may be written but not read keeps what is in it
	}
	for _, e := range entries {
		if e.IsDir() && strings.HasPrefix(e.Name(), "bridge-") {
			sweepOne(filepath.Join(base, e.Name()))
		}
	}
}

// sweepOne removes a directory that a guardian has made and that nobody holds.
// Its name alone says nothing: the owner, the mode, the marker and the lock do.
func sweepOne(dir string) {
	fd, err := unix.Open(dir, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
	if err != nil {
		return
	}
	defer unix.Close(fd)
	var held, named, mark unix.Stat_t
	if unix.Fstat(fd, &held) != nil || int(held.Uid) != os.Geteuid() || held.Mode&0o777 != 0o700 {
		return
	}
	if unix.Fstatat(fd, marker, &mark, unix.AT_SYMLINK_NOFOLLOW) != nil || mark.Mode&unix.S_IFMT != unix.S_IFREG {
		return
	}
	if unix.Flock(fd, unix.LOCK_EX|unix.LOCK_NB) != nil {
		return // somebody holds it
	}
	// Another sweep may have removed it, and somebody have made a new one of the
	// same name, since it was opened.
	if unix.Lstat(dir, &named) != nil || named.Ino != held.Ino || named.Dev != held.Dev {
		return
	}
	_ = os.RemoveAll(dir) // what cannot be removed is left to the next sweep
}
