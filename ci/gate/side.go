package gate

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"bridgecheck/ci/upstream"
	"bridgecheck/suites/report"
)

// side is the base or the head.
type side struct {
	name string
	// binding is go-arapuca; library is arapuca, nil for the one installed.
	binding upstream.Tree
	library *upstream.Tree
	// versions are what git calls them.
	bindingVersion, libraryVersion string
	// dir holds the subjects, link their verdict where there is one.
	dir  string
	link *report.Link
}

func (s side) text() string {
	text := "go-arapuca " + s.bindingVersion
	if s.library != nil {
		text += ", arapuca " + s.libraryVersion
	}
	return text
}

func (s side) broken() bool { return s.link != nil && !s.link.OK() }

// of is what bridgecheck gate is given: the subject, or the folder with the link
// verdict when one of the sides could not be built. Nothing is run then.
func (s side) of(subject string, broken bool) string {
	if broken {
		return s.dir
	}
	return filepath.Join(s.dir, subject)
}

// sides brings both sides to this machine. When both projects are named they are
// one change: each has its own base. At least one of them has to differ.
func (q Request) sides(ctx context.Context, dir string) (base, head *side, err error) {
	base, head = &side{name: "base"}, &side{name: "head"}
	same := true
	head.binding, base.binding, err = q.pair(ctx, upstream.GoArapuca, q.GoArapuca, q.Base, filepath.Join(dir, "sources"))
	switch {
	case errors.Is(err, upstream.ErrNothing) && q.Arapuca != "":
		base.binding = head.binding
	case err != nil:
		return nil, nil, err
	default:
		same = false
	}
	if q.Arapuca != "" {
		library, before, err := q.pair(ctx, upstream.Arapuca, q.Arapuca, q.ArapucaBase, filepath.Join(dir, "sources"))
		switch {
		case errors.Is(err, upstream.ErrNothing):
			before = library
		case err != nil:
			return nil, nil, err
		default:
			same = false
		}
		head.library, base.library = &library, &before
	}
	if same {
		return nil, nil, fmt.Errorf("neither go-arapuca %s nor arapuca %s differs from its base; name a base as BASE=REF or ARAPUCA_BASE=REF", q.GoArapuca, q.Arapuca)
	}
	for _, s := range []*side{base, head} {
		s.dir, s.bindingVersion = filepath.Join(q.Results, s.name), s.binding.Name(ctx)
		if s.library != nil {
			s.libraryVersion = s.library.Name(ctx)
		}
	}
	return base, head, nil
}

// pair brings the head of a project and its base to this machine. A head that has
// nothing of its own is returned with [upstream.ErrNothing].
func (q Request) pair(ctx context.Context, p upstream.Project, headText, baseText, dir string) (head, base upstream.Tree, err error) {
	source, err := upstream.Parse(p.FromEnv(), headText)
	if err != nil {
		return head, base, err
	}
	dir = filepath.Join(dir, p.Name)
	if head, err = q.Cache.Get(ctx, source, filepath.Join(dir, "head")); err != nil {
		return head, base, err
	}
	if baseText == "" && source.Release() {
		return head, base, fmt.Errorf("%w: %s is a release, and no change; name the base as BASE=REF", upstream.ErrNothing, source)
	}
	if baseText != "" {
		if named, err := upstream.Parse(p.FromEnv(), baseText); err != nil {
			return head, base, err
		} else if named.Kind == upstream.Checkout {
			base, err = q.Cache.Get(ctx, named, "")
			return head, base, err
		}
	}
	base, err = upstream.Base(ctx, head, baseText, filepath.Join(dir, "base"))
	return head, base, err
}

// build builds the library of a side where one is named, and the subjects.
func (q Request) build(ctx context.Context, dir string, s *side) (err error) {
	b := upstream.Build{Repository: q.Repository, Binding: s.binding.Dir, BindingVersion: s.bindingVersion, Names: q.Subjects, Log: q.Log}
	if s.library != nil {
		b.History = s.library.Dir
		if b.Prefix, err = q.installed(ctx, *s.library, filepath.Join(dir, "prefix-"+s.name)); err != nil {
			return err
		}
	}
	s.link, err = b.Subjects(ctx, s.dir)
	return err
}

// installed is a prefix with the library. What was built of a commit is kept: it
// takes minutes, and is the same the next time.
func (q Request) installed(ctx context.Context, t upstream.Tree, prefix string) (string, error) {
	pinned := t.Commit != "" && t.Source.Kind != upstream.Checkout
	if pinned {
		prefix = filepath.Join(q.Cache.Dir, "prefix", t.Commit)
	}
	done := filepath.Join(prefix, "whole")
	if _, err := os.Stat(done); err == nil && pinned {
		return prefix, nil
	}
	if err := os.RemoveAll(prefix); err != nil {
		return "", fmt.Errorf("install arapuca: %w", err)
	}
	if err := upstream.Library(ctx, q.Repository, t.Dir, prefix, q.Log); err != nil {
		return "", err
	}
	if err := os.WriteFile(done, nil, 0o644); err != nil {
		return "", fmt.Errorf("install arapuca: %w", err)
	}
	return prefix, nil
}
