package report

import (
	"fmt"
	"os"
	"slices"
	"strings"
)

// WriteSummary writes summary.md: one page for a pull-request comment.
func WriteSummary(path string, v Verdict) error {
	if err := os.WriteFile(path, []byte(Summary(v)), 0o644); err != nil {
		return fmt.Errorf("write summary: %w", err)
	}
	return nil
}

// Summary is the verdict as Markdown.
func Summary(v Verdict) string {
	var b strings.Builder
	fmt.Fprintf(&b, "## bridgecheck: %s is %s\n\n", cell(v.Subject.Title()), v.Result)
	fmt.Fprintf(&b, "| profile | result | required | pass | fail | blocked | n/a | other |\n|---|---|---|---|---|---|---|---|\n")
	for _, p := range v.Profiles {
		fmt.Fprintf(&b, "| %s | %s | %d | %s |\n", p.Name, p.Result, p.Required, columns(p.Counts))
	}
	total := 0
	for o, n := range v.Counts {
		if o != NotSelected {
			total += n
		}
	}
	fmt.Fprintf(&b, "| %s | %s | %d | %s |\n", allChecks(v), v.Result, total, columns(v.Counts))
	list(&b, "Nothing can be concluded", v.Problems)
	redTable(&b, v)
	list(&b, "Also to know", notes(v))
	b.WriteString("\n")
	for _, c := range v.Cells {
		fmt.Fprintf(&b, "Cell %s: engine %s, %s, uid %d, kernel %s.\n", c.Name, c.Engine, c.Privilege, c.UID, c.Kernel)
	}
	return b.String()
}

func columns(c Counts) string { return strings.ReplaceAll(countCells(c), "\t", " | ") }

func redTable(b *strings.Builder, v Verdict) {
	if len(v.Red()) == 0 {
		return
	}
	b.WriteString("\n### Red\n\n| check | outcome | requires | got | rerun |\n|---|---|---|---|---|\n")
	for _, c := range v.Red() {
		fmt.Fprintf(b, "| %s %s | %s | %s | %s | `%s` |\n",
			c.ID, cell(c.Title), c.Outcome, cell(c.Must), cell(gotLine(c)), cell(c.Rerun))
	}
}

// gotLine is what the worst result saw, with the rows that are red named; rows
// that saw the same stand together.
func gotLine(c CaseVerdict) string {
	rows := worstRows(c)
	if len(rows) == 0 {
		return c.Reason
	}
	var texts []string
	seenBy := map[string][]string{}
	for _, r := range rows {
		text := r.Reason
		for _, s := range r.Steps {
			if !s.OK {
				text = stepGot(s)
				break
			}
		}
		if !slices.Contains(texts, text) {
			texts = append(texts, text)
		}
		if r.Row != "" {
			seenBy[text] = append(seenBy[text], r.Row)
		}
	}
	for i, text := range texts {
		if rows := seenBy[text]; len(rows) > 0 {
			texts[i] = strings.Join(rows, ", ") + ": " + text
		}
	}
	return strings.Join(texts, "; ")
}

func list(b *strings.Builder, title string, items []string) {
	if len(items) == 0 {
		return
	}
	fmt.Fprintf(b, "\n### %s\n\n", title)
	for _, item := range items {
		fmt.Fprintf(b, "- %s\n", cell(item))
	}
}

// cell makes text safe inside a table cell: no bar, no line break, no markup.
func cell(s string) string {
	return strings.NewReplacer("|", "\\|", "\r", "", "\n", " ", "<", "&lt;", "`", "'").Replace(s)
}
