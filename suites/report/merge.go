package report

import (
	"cmp"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Merged is many verdicts side by side: version by check.
type Merged struct {
	// Groups are the subjects, each with its runs in the order of their versions.
	Groups []Group
}

// Group is the runs of one subject.
type Group struct {
	Subject string
	Double  bool
	Columns []Column
}

// Column is one run, or one that could not be built.
type Column struct {
	// Label names it among the others of its group: the row of the matrix, or the
	// versions, or the folder where those are equal.
	Label   string
	Dir     string
	Row     *Row
	Link    *Link
	Verdict *Verdict
	// versions, as "name version" in the order of their names, are what columns are
	// ordered by.
	versions []string
}

// Double tells whether the column is one of a stand-in.
func (c Column) Double() bool { return c.Verdict != nil && c.Verdict.Subject.Double }

// Result is the column's in a word.
func (c Column) Result() string {
	if c.Verdict == nil {
		return "does not link"
	}
	return string(c.Verdict.Result)
}

// Outcome is what the column says of a check; empty when nothing.
func (c Column) Outcome(id string) Outcome {
	if id == LinkID {
		switch {
		case c.Link == nil:
			return ""
		case c.Link.OK():
			return Pass
		}
		return Fail
	}
	if c.Verdict == nil {
		return ""
	}
	found, ok := c.Verdict.Case(id)
	if !ok || found.Outcome == NotSelected {
		return ""
	}
	return found.Outcome
}

// Red tells whether the check gates in that column.
func (c Column) Red(id string) bool {
	if id == LinkID {
		return c.Outcome(id) == Fail
	}
	if c.Verdict == nil {
		return false
	}
	found, _ := c.Verdict.Case(id)
	return found.Red
}

// Merge reads all results below the folders: each folder with a verdict, and each
// without one because the parts of the subject do not fit. Such a one stands in
// the group of every subject that is no double. None at all is an error.
func Merge(dirs []string) (Merged, error) {
	var m Merged
	var unbuilt []Column
	for _, dir := range dirs {
		found, err := columnsBelow(dir)
		if err != nil {
			return Merged{}, err
		}
		if len(found) == 0 {
			return Merged{}, fmt.Errorf("merge: there is no verdict below %s; name results folders of bridgecheck", dir)
		}
		for _, c := range found {
			if c.Verdict == nil {
				unbuilt = append(unbuilt, c)
				continue
			}
			m.add(c.Verdict.Subject.Name, c)
		}
	}
	real := slices.DeleteFunc(slices.Clone(m.Groups), func(g Group) bool { return g.Double })
	for _, c := range unbuilt {
		for _, g := range real {
			m.add(g.Subject, c)
		}
		if len(real) == 0 {
			m.add("not built", c)
		}
	}
	slices.SortFunc(m.Groups, func(a, b Group) int { return cmp.Compare(a.Subject, b.Subject) })
	for i := range m.Groups {
		m.Groups[i].order()
	}
	return m, nil
}

func (m *Merged) add(name string, c Column) {
	i := slices.IndexFunc(m.Groups, func(g Group) bool { return g.Subject == name })
	if i < 0 {
		i, m.Groups = len(m.Groups), append(m.Groups, Group{Subject: name})
	}
	m.Groups[i].Columns = append(m.Groups[i].Columns, c)
	m.Groups[i].Double = m.Groups[i].Double || c.Double()
}

// columnsBelow walks a folder. What a row's folder says holds for the folders of
// the subjects in it.
func columnsBelow(root string) ([]Column, error) {
	var columns []Column
	above := map[string]Column{}
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return fmt.Errorf("merge: %w", err)
		}
		if !d.IsDir() {
			return nil
		}
		c, own, err := readColumn(path, above[filepath.Dir(path)])
		if err != nil {
			return err
		}
		above[path] = Column{Row: c.Row, Link: c.Link}
		if own {
			columns = append(columns, c)
		}
		return nil
	})
	return columns, err
}

// readColumn reads a folder below another; own tells whether it is a result.
func readColumn(dir string, above Column) (c Column, own bool, err error) {
	c = Column{Dir: dir, Row: above.Row, Link: above.Link}
	if link, err := ReadLink(dir); err != nil {
		return c, false, err
	} else if link != nil {
		c.Link, own = link, !link.OK()
	}
	if row, err := ReadRow(dir); err != nil {
		return c, false, err
	} else if row != nil {
		c.Row = row
	}
	path := filepath.Join(dir, "verdict.yaml")
	if _, err := os.Stat(path); err == nil {
		v, err := ReadYAML(path)
		if err != nil {
			return c, false, err
		}
		c.Verdict, own = &v, true
	}
	c.name()
	return c, own, nil
}

// name gives the column its label and what it is ordered by.
func (c *Column) name() {
	var versions map[string]string
	switch {
	case c.Row != nil:
		versions = c.Row.Versions
	case c.Verdict != nil:
		versions = c.Verdict.Subject.Versions
	case c.Link != nil:
		versions = c.Link.versions()
	}
	for name, version := range versions {
		c.versions = append(c.versions, name+" "+version)
	}
	slices.Sort(c.versions)
	if c.Row != nil {
		c.Label = c.Row.Name
	}
}

// order sorts the columns by version and gives them labels that differ: the row,
// or the versions that are not the same everywhere, or else the folder.
func (g *Group) order() {
	slices.SortStableFunc(g.Columns, func(a, b Column) int {
		return cmp.Or(compareNatural(strings.Join(a.versions, ", "), strings.Join(b.versions, ", ")), compareNatural(a.Label, b.Label), cmp.Compare(a.Dir, b.Dir))
	})
	same := func(version string) bool {
		return len(g.Columns) > 1 && !slices.ContainsFunc(g.Columns, func(c Column) bool { return !slices.Contains(c.versions, version) })
	}
	count := map[string]int{}
	for i, c := range g.Columns {
		if c.Row == nil {
			g.Columns[i].Label = strings.Join(slices.DeleteFunc(slices.Clone(c.versions), same), ", ")
		}
		count[g.Columns[i].Label]++
	}
	for i, c := range g.Columns {
		switch {
		case c.Label == "":
			g.Columns[i].Label = c.Dir
		case count[c.Label] > 1:
			g.Columns[i].Label = c.Label + " (" + c.Dir + ")"
		}
	}
}

// compareNatural compares runs of digits by their value: 0.2.10 is above 0.2.9.
func compareNatural(a, b string) int {
	for a != "" && b != "" {
		numberA, restA := leadingDigits(a)
		numberB, restB := leadingDigits(b)
		if numberA != "" && numberB != "" {
			x, y := strings.TrimLeft(numberA, "0"), strings.TrimLeft(numberB, "0")
			if c := cmp.Or(cmp.Compare(len(x), len(y)), cmp.Compare(x, y)); c != 0 {
				return c
			}
			a, b = restA, restB
			continue
		}
		if a[0] != b[0] {
			return cmp.Compare(a[0], b[0])
		}
		a, b = a[1:], b[1:]
	}
	return cmp.Compare(len(a), len(b))
}

func leadingDigits(s string) (digits, rest string) {
	end := strings.IndexFunc(s, func(r rune) bool { return r < '0' || r > '9' })
	if end < 0 {
		end = len(s)
	}
	return s[:end], s[end:]
}
