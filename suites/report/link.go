package report

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/goccy/go-yaml"
	"golang.org/x/sys/unix"

	"bridgecheck/suites/catalog"
)

// LinkFile is where [Link] stands in a results folder. Such a folder has no
// verdict.yaml when the subject could not be built for what the file says.
const LinkFile = "link.yaml"

// LinkID stands among the ids of checks for whether the parts fit each other.
const LinkID = "LINK"

const linkTitle = "the binding fits the library"

// Link is whether the parts of a subject fit each other: a binding, the native
// library it is linked with, and the program that the library runs. That they do
// not is a finding about their versions, not a failure to set up.
type Link struct {
	Format int `json:"format"`
	// Binding, Library and Wrapper are the parts; a version is empty where it is
	// unknown or the part is not there.
	Binding Part `json:"binding"`
	Library Part `json:"library"`
	Wrapper Part `json:"wrapper"`
	// Missing are the symbols that the binding calls and the library lacks.
	Missing []string `json:"missing,omitempty"`
	// Needs is the lowest version of the library that has them, as "≥ 0.2.7";
	// empty where no known version has.
	Needs string `json:"needs,omitempty"`
}

// Part is a component and its version.
type Part struct {
	Name    string `json:"name"`
	Version string `json:"version,omitempty"`
}

func (p Part) String() string { return strings.TrimSpace(p.Name + " " + p.Version) }

// Skewed tells whether the wrapper is of another version than the library: what
// the library sets and the wrapper does not know has no effect then.
func (l Link) Skewed() bool {
	return l.Wrapper.Version != "" && l.Library.Version != "" && l.Wrapper.Version != l.Library.Version
}

// OK tells whether the parts fit.
func (l Link) OK() bool { return len(l.Missing) == 0 && !l.Skewed() }

// Text says it in a sentence.
func (l Link) Text() string {
	var parts []string
	if len(l.Missing) > 0 {
		needs := "a newer " + l.Library.Name
		if l.Needs != "" {
			needs = l.Library.Name + " " + l.Needs
		}
		parts = append(parts, fmt.Sprintf("%s needs %s: missing in %s: %s", l.Binding, needs, l.Library, strings.Join(l.Missing, ", ")))
	}
	if l.Skewed() {
		parts = append(parts, fmt.Sprintf("%s is linked, and the program it runs is %s: what that one does not know has no effect", l.Library, l.Wrapper))
	}
	if len(parts) == 0 {
		return fmt.Sprintf("%s fits %s", l.Binding, l.Library)
	}
	return strings.Join(parts, "; ")
}

// versions are those of the parts that are known.
func (l Link) versions() map[string]string {
	known := map[string]string{}
	for _, p := range []Part{l.Binding, l.Library} {
		if p.Version != "" {
			known[p.Name] = p.Version
		}
	}
	return known
}

// WriteLink writes [LinkFile] into the folder.
func WriteLink(dir string, l Link) error {
	l.Format = Format
	data, err := EncodeYAML(l)
	if err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(dir, LinkFile), data, 0o644); err != nil {
		return fmt.Errorf("write link verdict: %w", err)
	}
	return nil
}

// ReadLink reads [LinkFile] of a folder; it returns nil where there is none, or no
// folder.
func ReadLink(dir string) (*Link, error) {
	path := filepath.Join(dir, LinkFile)
	data, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, unix.ENOTDIR) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read link verdict: %w", err)
	}
	var l Link
	if err := yaml.UnmarshalWithOptions(data, &l, yaml.DisallowUnknownField()); err != nil {
		return nil, fmt.Errorf("read link verdict %s: %w", path, err)
	}
	if l.Format != Format || l.Binding.Name == "" || l.Library.Name == "" {
		return nil, fmt.Errorf("read link verdict %s: format %d, binding %q, library %q: this release reads format %d with both parts named",
			path, l.Format, l.Binding.Name, l.Library.Name, Format)
	}
	return &l, nil
}

// CompareLinked is [Compare] for subjects of which one may not have been built,
// because its parts do not fit. A nil link is one that nobody looked at.
func CompareLinked(baseLink, headLink *Link, base, head []Verdict) Gate {
	badBase, badHead := baseLink != nil && !baseLink.OK(), headLink != nil && !headLink.OK()
	if !badBase && !badHead {
		return Compare(base, head)
	}
	g := Gate{Base: linkSubject(baseLink, base), Head: linkSubject(headLink, head)}
	// That a side fits is known by its link verdict, or by the run it had.
	if headLink == nil && len(head) == 0 || baseLink == nil && len(base) == 0 {
		g.Problems = append(g.Problems, "of a side there is neither a run nor whether its parts fit")
	}
	c := Change{Base: Pass, Head: Pass, Case: CaseVerdict{
		ID: LinkID, Title: linkTitle, Level: catalog.Interoperability,
		Must: "The library MUST have every symbol that the binding calls, and MUST be of the version of the program that it runs.",
	}}
	if badBase {
		c.Base, c.Case.Reason = Fail, "the base: "+baseLink.Text()
	}
	if badHead {
		c.Head, c.Case.Reason = Fail, headLink.Text()
	}
	switch {
	case badBase && badHead:
		g.WasRed = append(g.WasRed, c)
		g.Problems = append(g.Problems, "neither side could be built: "+headLink.Text())
	case badHead:
		g.Broke = append(g.Broke, c)
	default:
		g.Mended = append(g.Mended, c)
	}
	return g
}

func linkSubject(l *Link, runs []Verdict) Subject {
	if len(runs) > 0 {
		return runs[0].Subject
	}
	if l == nil {
		return Subject{Name: "unknown"}
	}
	return Subject{Name: l.Binding.Name, Versions: l.versions()}
}
