package upstream

import (
	"context"
	"errors"
	"fmt"
)

// ErrNothing says that a head has nothing that its base has not.
var ErrNothing = errors.New("there is nothing to compare")

// Base writes the commit into dir that the head's change began from: its merge
// base with a branch. An empty branch is the default branch of the repository.
func Base(ctx context.Context, head Tree, branch, dir string) (Tree, error) {
	if head.Repository == "" {
		return Tree{}, fmt.Errorf("%s is no git repository, so it has no merge base; name the base as BASE=./folder", head.Dir)
	}
	branch, err := baseBranch(ctx, head, branch)
	if err != nil {
		return Tree{}, err
	}
	commit, err := git(ctx, head.Repository, "merge-base", head.Commit, branch)
	if err != nil {
		return Tree{}, fmt.Errorf("%s and %s have no commit in common (a shallow clone has too few: git fetch --unshallow): %w", head.Source, branch, err)
	}
	if commit == head.Commit {
		changed, err := git(ctx, head.Dir, "status", "--porcelain", "--untracked-files=normal")
		if err != nil {
			return Tree{}, err
		}
		if changed == "" {
			return Tree{}, fmt.Errorf("%w: %s has nothing that %s has not; commit the change, or name the base as BASE=REF", ErrNothing, head.Source, branch)
		}
	}
	return at(ctx, Source{Project: head.Source.Project, Kind: Ref, Value: commit}, head.Repository, commit, dir)
}

// baseBranch is the branch that was named, or else the default one.
func baseBranch(ctx context.Context, head Tree, branch string) (string, error) {
	candidates := []string{branch}
	switch {
	case branch != "":
	case head.Source.Kind != Checkout:
		candidates = []string{"HEAD"} // of the clone: the default branch there
	default:
		candidates = []string{"refs/remotes/origin/HEAD", "refs/remotes/origin/main", "refs/remotes/origin/master", "refs/heads/main", "refs/heads/master"}
	}
	for _, name := range candidates {
		if _, err := git(ctx, head.Repository, "rev-parse", "--verify", "--quiet", "--end-of-options", name+"^{commit}"); err == nil {
			return name, nil
		}
	}
	if branch != "" {
		return "", fmt.Errorf("BASE=%s: %s has no such branch, tag or commit", branch, head.Repository)
	}
	return "", fmt.Errorf("%s has neither origin/HEAD nor a branch main or master; name the base as BASE=REF", head.Repository)
}
