package upstream

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// CopyTo writes the tree as it stands into dir: of a git repository what git would
// keep or has not been told to ignore, with the tags, so that what is built and
// what is only cached stay out. A folder that git does not know is copied whole.
func (t Tree) CopyTo(ctx context.Context, dir string) error {
	if t.Repository == "" {
		if err := os.CopyFS(dir, os.DirFS(t.Dir)); err != nil {
			return fmt.Errorf("copy %s: %w", t.Dir, err)
		}
		return nil
	}
	list, err := git(ctx, t.Dir, "ls-files", "-z", "--cached", "--others", "--exclude-standard")
	if err != nil {
		return err
	}
	// The history comes whole: a clone that shares objects is of no use in an image.
	if err := os.MkdirAll(filepath.Dir(dir), 0o755); err != nil {
		return fmt.Errorf("copy %s: %w", t.Dir, err)
	}
	if _, err := git(ctx, filepath.Dir(dir), "clone", "--quiet", "--no-checkout", "--no-local", "--", t.Dir, dir); err != nil {
		return err
	}
	for name := range strings.SplitSeq(list, "\x00") {
		if name == "" {
			continue
		}
		if err := copyFile(filepath.Join(t.Dir, name), filepath.Join(dir, name)); err != nil {
			return fmt.Errorf("copy %s: %w", t.Dir, err)
		}
	}
	// Or every file of the copy would count as changed.
	if _, err := git(ctx, dir, "read-tree", "HEAD"); err != nil {
		return err
	}
	return nil
}

func copyFile(from, to string) error {
	info, err := os.Lstat(from)
	if errors.Is(err, fs.ErrNotExist) {
		return nil // removed, and not committed yet
	}
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
		return err
	}
	switch {
	case info.Mode()&fs.ModeSymlink != 0:
		target, err := os.Readlink(from)
		if err != nil {
			return err
		}
		return os.Symlink(target, to)
	case !info.Mode().IsRegular():
		return nil // a submodule's folder: its files are not this repository's
	}
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := os.OpenFile(to, os.O_CREATE|os.O_TRUNC|os.O_WRONLY, info.Mode().Perm())
	if err != nil {
		return err
	}
	_, err = io.Copy(out, in)
	return errors.Join(err, out.Close())
}
