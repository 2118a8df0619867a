package report

import (
	"fmt"
	"slices"
	"strings"
)

// Page is the gate as one page of Markdown, fit for a comment on a pull request.
func (g Gate) Page() string {
	var b strings.Builder
	fmt.Fprintf(&b, "## bridgecheck gate: %s\n\n", g.sentence())
	fmt.Fprintf(&b, "base %s, head %s\n", subjectText(g.Base), subjectText(g.Head))
	list(&b, "Nothing can be concluded", g.Problems)
	g.table(&b, "Broken by the head", g.Broke)
	g.table(&b, "No longer claimed by the head", g.Withdrawn)
	g.table(&b, "Cannot be judged", g.Open)
	g.table(&b, "Flips between runs of the same subject", g.Flips)
	g.table(&b, "Mended by the head", g.Mended)
	g.table(&b, "Newly claimed and green", g.Gained)
	g.table(&b, "Red before and after", g.WasRed)
	if len(g.Claims) > 0 {
		fmt.Fprintf(&b, "\nThe head claims what the base did not: %s.\n", joinWords(g.Claims))
	}
	if len(g.Dropped) > 0 {
		fmt.Fprintf(&b, "\nThe head no longer claims: %s.\n", joinWords(g.Dropped))
	}
	fmt.Fprintf(&b, "\n%d of the checks are the same on both in every row. Levels S and I gate; house rules do not.\n", g.Same)
	return b.String()
}

func (g Gate) sentence() string {
	switch g.Exit() {
	case ExitConformant:
		return fmt.Sprintf("open: nothing is broken, %d mended, %d newly green", len(g.Mended), len(g.Gained))
	case ExitNot:
		return fmt.Sprintf("closed: %d broken, %d no longer claimed", len(g.Broke), len(g.Withdrawn))
	}
	return "closed: this cannot be judged"
}

func subjectText(s Subject) string {
	name := s.Title()
	if s.Arg != "" && s.Arg != s.Name {
		name = s.Arg + ", that is " + name // two builds of one sandbox have one name
	}
	var versions []string
	for name, version := range s.Versions {
		versions = append(versions, name+" "+version)
	}
	if len(versions) == 0 {
		return cell(name)
	}
	return cell(name + " (" + strings.Join(slices.Sorted(slices.Values(versions)), ", ") + ")")
}

func (g Gate) table(b *strings.Builder, title string, changes []Change) {
	if len(changes) == 0 {
		return
	}
	fmt.Fprintf(b, "\n### %s\n\n| check | base | head | requires | head got | rerun |\n|---|---|---|---|---|---|\n", title)
	for _, c := range changes {
		rerun := ""
		if c.Case.Rerun != "" {
			rerun = "`" + cell(c.Case.Rerun) + "`"
		}
		fmt.Fprintf(b, "| %s %s | %s | %s | %s | %s | %s |\n", c.Case.ID, cell(c.Case.Title+rowsText(c.Rows)), c.Base, c.Head,
			cell(c.Case.Must), cell(gotLine(c.Case)), rerun)
	}
}

// rowsText names the rows that a line is about; the rest of them is a number.
func rowsText(rows []string) string {
	const most = 6
	switch {
	case len(rows) == 0:
		return ""
	case len(rows) > most:
		return fmt.Sprintf(" (%s and %d more rows)", strings.Join(rows[:most], ", "), len(rows)-most)
	}
	return " (" + strings.Join(rows, ", ") + ")"
}

func joinWords[S ~string](words []S) string {
	texts := make([]string, len(words))
	for i, w := range words {
		texts[i] = string(w)
	}
	return strings.Join(texts, ", ")
}
