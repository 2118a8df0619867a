package guardian

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

// directory is what prepare made.
type directory struct {
	path    string
	parents []string // made as well, to be removed when empty
}

// prepare makes a directory of mode 0700 below base. base itself may not be a
// symbolic link, and nobody but root and the caller may be able to rename what
// lies on the way: else somebody could put another directory in its place.
func prepare(base string) (directory, error) {
	var made directory
	if !filepath.IsAbs(base) {
		return made, errors.New("the path is relative; give an absolute one")
	}
	base = filepath.Clean(base)
	parent, err := filepath.EvalSymlinks(filepath.Dir(base))
	if err != nil {
		return made, fmt.Errorf("%w; make it, or name another runtime path", err)
	}
	base = filepath.Join(parent, filepath.Base(base))
	if err := trusted(parent); err != nil {
		return made, err
	}
	for range 3 { // another phase may remove an empty base that it has made
		if err = made.under(base); !errors.Is(err, fs.ErrNotExist) {
			break
		}
	}
	return made, err
}

// under makes base, where it is missing, and the directory in it.
func (d *directory) under(base string) error {
	switch err := os.Mkdir(base, 0o700); {
	case err == nil:
		d.parents = []string{base}
	case !errors.Is(err, fs.ErrExist):
		return err
	}
	err := trusted(base)
	if err == nil {
		d.path, err = os.MkdirTemp(base, "bridge-")
	}
	return err
}

// trusted checks path and every directory above it.
func trusted(path string) error {
	unmapped := partialIDs()
	for {
		info, err := os.Lstat(path)
		if err != nil {
			return err
		}
		if err := trustedDir(path, info, unmapped); err != nil {
			return err
		}
		if path == "/" {
			return nil
		}
		path = filepath.Dir(path)
	}
}

func trustedDir(path string, info fs.FileInfo, unmapped bool) error {
	const fix = "; name a runtime path of your own"
	if info.Mode()&fs.ModeSymlink != 0 {
		return fmt.Errorf("%s is a symbolic link%s", path, fix)
	}
	if !info.IsDir() {
		return fmt.Errorf("%s is not a directory%s", path, fix)
	}
	owner := info.Sys().(*syscall.Stat_t).Uid
	if owner != 0 && int(owner) != os.Geteuid() && !(unmapped && owner == overflowUID) {
		return fmt.Errorf("%s belongs to user %d%s", path, owner, fix)
	}
	if info.Mode().Perm()&0o022 != 0 && info.Mode()&fs.ModeSticky == 0 {
		return fmt.Errorf("%s may be written by others (mode %#o)%s", path, info.Mode().Perm(), fix)
	}
	return nil
}

// overflowUID is shown for owners without a mapping (user_namespaces(7)).
const overflowUID = 65534

// partialIDs tells whether this user namespace maps only some users, so that
// root's files seem to belong to the overflow user.
func partialIDs() bool {
	data, err := os.ReadFile("/proc/self/uid_map")
	return err == nil && strings.Join(strings.Fields(string(data)), " ") != "0 0 4294967295"
}
