// Package upstream takes arapuca and go-arapuca as a released version, a commit, a
// branch, a pull request or a local checkout, and finds the commit that a change
// of theirs began from.
package upstream

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
)

// Project is one of the two upstream projects.
type Project struct {
	// Name is what variables, folders and pages call it.
	Name string
	// Repository is where it is cloned from.
	Repository string
}

// The projects. A fork or a mirror comes in by [Project.FromEnv].
var (
	Arapuca   = Project{"arapuca", "https://github.com/LeGambiArt/arapuca"}
	GoArapuca = Project{"go-arapuca", "https://github.com/LeGambiArt/go-arapuca"}
)

// Variable names another repository to clone from: GO_ARAPUCA_REPOSITORY.
func (p Project) Variable() string {
	return strings.ToUpper(strings.ReplaceAll(p.Name, "-", "_")) + "_REPOSITORY"
}

// FromEnv is the project with the repository that the environment names.
func (p Project) FromEnv() Project {
	if r := os.Getenv(p.Variable()); r != "" {
		p.Repository = r
	}
	return p
}

// Kind is a form in which a project can be named.
type Kind string

// The kinds.
const (
	Checkout    Kind = "checkout"     // a folder on this machine, as it stands
	Ref         Kind = "ref"          // a tag, a branch or a commit
	PullRequest Kind = "pull request" // its head, by number
)

// Source is a project as a user named it.
type Source struct {
	Project Project
	Kind    Kind
	// Value is an absolute path, a ref, or a number.
	Value string
}

func (s Source) String() string {
	if s.Kind == PullRequest {
		return s.Project.Name + " #" + s.Value
	}
	return s.Project.Name + " " + s.Value
}

var (
	pullRequest = regexp.MustCompile(`^(?:#|pr[:/]|https://[^/]+/[^/]+/[^/]+/pull/)([1-9][0-9]{0,8})/?$`)
	version     = regexp.MustCompile(`^[0-9]+\.[0-9]+\.[0-9]+(-[0-9A-Za-z.-]+)?$`)
	// ref is stricter than git-check-ref-format(1): no ref that begins as an option
	// does, none with a character that a shell or git reads.
	ref = regexp.MustCompile(`^[0-9A-Za-z_][0-9A-Za-z_./-]{0,199}$`)
)

// Parse reads a path (./x, /x, ~ is the shell's), a version (0.2.5 or v0.2.5), any
// other ref, or a pull request (#12, pr:12 or its address).
func Parse(p Project, text string) (Source, error) {
	s := Source{Project: p, Kind: Ref, Value: text}
	switch {
	case text == "":
		return s, fmt.Errorf("%s is not named: give a path, a version, a commit, a branch or a pull request as pr:12", p.Name)
	case strings.HasPrefix(text, ".") || strings.HasPrefix(text, "/"):
		path, err := filepath.Abs(text)
		if err != nil {
			return s, fmt.Errorf("%s %s: %w", p.Name, text, err)
		}
		if info, err := os.Stat(path); err != nil {
			return s, fmt.Errorf("%s: %w; name an existing folder", p.Name, err)
		} else if !info.IsDir() {
			return s, fmt.Errorf("%s: %s is no folder", p.Name, path)
		}
		s.Kind, s.Value = Checkout, path
	case pullRequest.MatchString(text):
		s.Kind, s.Value = PullRequest, pullRequest.FindStringSubmatch(text)[1]
	case version.MatchString(text):
		s.Value = "v" + text
	case !ref.MatchString(text) || strings.Contains(text, ".."):
		return s, fmt.Errorf("%s %q is neither a path, nor a ref, nor a pull request: write ./folder, v0.2.5, a commit or pr:12", p.Name, text)
	}
	return s, nil
}

// Pinned tells whether the source names the same code for ever: a release or a
// whole commit.
func (s Source) Pinned() bool {
	return s.Release() || s.Kind == Ref && commit.MatchString(s.Value)
}

// Release tells whether the source is a released version.
func (s Source) Release() bool {
	return s.Kind == Ref && version.MatchString(strings.TrimPrefix(s.Value, "v"))
}

var commit = regexp.MustCompile(`^[0-9a-f]{40}$`)
