package report

import (
	"fmt"
	"slices"
	"strings"
)

const doubleNote = "A column marked double is a stand-in: its verdict says nothing of the real thing."

// Heading is the column's name, with the mark of a double.
func (c Column) Heading() string {
	if c.Double() {
		return c.Label + " [double]"
	}
	return c.Label
}

// Page is the merged page as Markdown: differences between neighbours first.
func (m Merged) Page() string {
	var b strings.Builder
	b.WriteString("## bridgecheck: version by check\n")
	if slices.ContainsFunc(m.Groups, func(g Group) bool { return g.Double }) {
		b.WriteString("\n" + doubleNote + "\n")
	}
	for _, g := range m.Groups {
		fmt.Fprintf(&b, "\n### %s: what differs between neighbours\n", cell(g.Subject))
		g.differences(&b)
		b.WriteString("\n| run | result | expected | red | because |\n|---|---|---|---|---|\n")
		for _, c := range g.Columns {
			fmt.Fprintf(&b, "| %s | %s | %s | %s | %s |\n", cell(c.Heading()), c.Result(), cell(c.Expected()), c.redWord(), cell(c.Because()))
		}
		g.table(&b)
	}
	return b.String()
}

func (g Group) differences(b *strings.Builder) {
	written := false
	for _, d := range g.Differences() {
		if len(d.Changes) == 0 {
			continue
		}
		written = true
		fmt.Fprintf(b, "\n%s → %s\n\n| check | before | after | because |\n|---|---|---|---|\n", cell(d.From.Heading()), cell(d.To.Heading()))
		for _, c := range d.Changes {
			fmt.Fprintf(b, "| %s %s | %s | %s | %s |\n", c.Case.ID, cell(c.Case.Title), c.Base, c.Head, cell(c.Why))
		}
	}
	switch {
	case len(g.Columns) == 1:
		b.WriteString("\nThere is one run alone.\n")
	case !written:
		b.WriteString("\nNothing.\n")
	}
}

func (g Group) table(b *strings.Builder) {
	uneven := g.Uneven()
	if len(uneven) > 0 && len(g.Columns) > 1 {
		b.WriteString("\n| check |")
		for _, c := range g.Columns {
			b.WriteString(" " + cell(c.Heading()) + " |")
		}
		b.WriteString("\n|---|" + strings.Repeat("---|", len(g.Columns)) + "\n")
		for _, id := range uneven {
			fmt.Fprintf(b, "| %s %s |", id, cell(g.Title(id)))
			for _, c := range g.Columns {
				fmt.Fprintf(b, " %s |", c.Outcome(id))
			}
			b.WriteString("\n")
		}
	}
	even := Counts{}
	for _, id := range g.Even() {
		even.add(g.outcomes(id)[0])
	}
	if len(even) > 0 {
		fmt.Fprintf(b, "\nThe same in every run: %s.\n", countsText(even))
	}
}

// Expected is what the matrix expects of the column's row.
func (c Column) Expected() string {
	if c.Row == nil {
		return ""
	}
	if c.Row.Informational {
		return c.Row.Expect + " (informational)"
	}
	return c.Row.Expect
}

// Because says what makes the column not conformant, or the row red.
func (c Column) Because() string {
	switch {
	case c.Row != nil && c.Row.Because != "":
		return c.Row.Because
	case c.Verdict == nil:
		return c.Link.Text()
	case len(c.Verdict.Problems) > 0:
		return strings.Join(c.Verdict.Problems, "; ")
	}
	var red []string
	for _, r := range c.Verdict.Red() {
		red = append(red, r.ID)
	}
	return strings.Join(red, ", ")
}

func (c Column) redWord() string {
	switch {
	case c.Row == nil:
		return ""
	case c.Row.Red:
		return "red"
	}
	return "no"
}
