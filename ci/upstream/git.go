package upstream

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// git runs git in a folder and returns what it printed.
func git(ctx context.Context, dir string, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, "git", append([]string{"-C", dir}, args...)...)
	// It must fail where it would ask for a password.
	cmd.Env = append(os.Environ(), "GIT_TERMINAL_PROMPT=0", "LC_ALL=C")
	out, err := cmd.Output()
	if err == nil {
		return strings.TrimSpace(string(out)), nil
	}
	if errors.Is(err, exec.ErrNotFound) {
		return "", errors.New("git is missing; install it")
	}
	text := err.Error()
	var exit *exec.ExitError
	if errors.As(err, &exit) && len(exit.Stderr) > 0 {
		text = strings.TrimSpace(string(exit.Stderr))
	}
	return "", fmt.Errorf("git %s in %s: %s", strings.Join(args, " "), dir, text)
}

// Cache keeps a clone of each repository between runs.
type Cache struct{ Dir string }

// UserCache is the cache of the user who runs this.
func UserCache() (Cache, error) {
	dir, err := os.UserCacheDir()
	if err != nil {
		return Cache{}, fmt.Errorf("find a folder for clones: %w", err)
	}
	return Cache{filepath.Join(dir, "bridgecheck", "upstream")}, nil
}

// clone brings the repository of a project into the cache, or up to date.
func (c Cache) clone(ctx context.Context, p Project) (string, error) {
	dir := filepath.Join(c.Dir, p.Name+"-"+flat(p.Repository))
	hint := func(err error) error {
		return fmt.Errorf("%s cannot be had: %w; it needs the network, or name a checkout as ./%s, or another repository in %s", p.Name, err, p.Name, p.Variable())
	}
	if _, err := os.Stat(filepath.Join(dir, "HEAD")); err != nil {
		if err := os.MkdirAll(c.Dir, 0o755); err != nil {
			return "", fmt.Errorf("make a folder for clones: %w", err)
		}
		// Whole or not at all: a clone that was cut off would be taken for one.
		part, err := os.MkdirTemp(c.Dir, ".part-*")
		if err != nil {
			return "", fmt.Errorf("make a folder for clones: %w", err)
		}
		defer os.RemoveAll(part)
		if _, err := git(ctx, c.Dir, "clone", "--quiet", "--mirror", "--", p.Repository, part); err != nil {
			return "", hint(err)
		}
		if err := os.Rename(part, dir); err != nil && !exists(filepath.Join(dir, "HEAD")) {
			return "", fmt.Errorf("keep the clone: %w", err)
		}
		return dir, nil
	}
	if _, err := git(ctx, dir, "fetch", "--quiet", "--prune", "--tags", "--force", "origin"); err != nil {
		return "", hint(err)
	}
	return dir, nil
}

func exists(path string) bool { _, err := os.Stat(path); return err == nil }

// flat makes a name of a folder out of an address.
func flat(address string) string {
	return strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '.' {
			return r
		}
		return '-'
	}, strings.TrimLeft(strings.TrimPrefix(address, "https://"), "./"))
}

// Tree is a source as files on this machine.
type Tree struct {
	Source Source
	// Dir holds the files. It is the user's own folder for a checkout.
	Dir string
	// Repository is a git directory with the history; empty for a folder that git
	// does not know.
	Repository string
	// Commit is what Dir stands at.
	Commit string
}

// Name is what git calls the commit: a version, with how far it is past it.
func (t Tree) Name(ctx context.Context) string {
	if t.Repository == "" {
		return "unversioned"
	}
	name, err := git(ctx, t.Dir, "describe", "--tags", "--always", "--dirty")
	if err != nil {
		return t.Commit
	}
	return name
}

// Get brings a source to this machine: a checkout stays where it is, everything
// else is written into dir.
func (c Cache) Get(ctx context.Context, s Source, dir string) (Tree, error) {
	if s.Kind == Checkout {
		t := Tree{Source: s, Dir: s.Value}
		if commit, err := git(ctx, s.Value, "rev-parse", "HEAD"); err == nil {
			t.Repository, t.Commit = s.Value, commit
		}
		return t, nil
	}
	repository, err := c.clone(ctx, s.Project)
	if err != nil {
		return Tree{}, err
	}
	name := s.Value
	if s.Kind == PullRequest {
		// A mirror has the heads of pull requests; a fetch of one that is new is part of clone.
		name = "refs/pull/" + s.Value + "/head"
	}
	commit, err := git(ctx, repository, "rev-parse", "--verify", "--quiet", "--end-of-options", name+"^{commit}")
	if err != nil {
		return Tree{}, fmt.Errorf("%s: %s has no such commit, tag, branch or pull request", s, s.Project.Repository)
	}
	return at(ctx, s, repository, commit, dir)
}

// at writes a commit into dir, by a clone that shares the objects: nothing is
// noted in the repository it comes from.
func at(ctx context.Context, s Source, repository, commit, dir string) (Tree, error) {
	if err := os.MkdirAll(filepath.Dir(dir), 0o755); err != nil {
		return Tree{}, fmt.Errorf("make a folder for %s: %w", s, err)
	}
	if _, err := git(ctx, filepath.Dir(dir), "clone", "--quiet", "--shared", "--no-checkout", "--", repository, dir); err != nil {
		return Tree{}, err
	}
	if _, err := git(ctx, dir, "checkout", "--quiet", "--detach", commit); err != nil {
		return Tree{}, err
	}
	return Tree{Source: s, Dir: dir, Repository: repository, Commit: commit}, nil
}
