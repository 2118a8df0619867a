package report

import (
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"
	"unicode"
)

// Block is the text of one check that gates: what was required, what was seen,
// and how to see it again. Each red result has its own lines. Dir is the results
// folder as the reader knows it, for the evidence.
func Block(v Verdict, c CaseVerdict, dir string) string {
	var b strings.Builder
	line := func(key, value string) { writeField(&b, key, value) }
	for _, r := range worstRows(c) {
		fmt.Fprintf(&b, "%s %s\n", rowID(c, r), c.Title)
		line("requires", fmt.Sprintf("%s (%s)", c.Must, c.Clause))
		line("subject", subjectLine(v, r.Cell))
		line("level", strings.Join(r.Levels, ", "))
		for _, l := range blockRow(r) {
			b.WriteString(l + "\n")
		}
		line("rerun", c.Rerun)
		line("evidence", evidenceLine(dir, r.Evidence))
	}
	if b.Len() == 0 { // red without a result: stale, or nothing was left
		fmt.Fprintf(&b, "%s %s\n", c.ID, c.Title)
		line("requires", fmt.Sprintf("%s (%s)", c.Must, c.Clause))
		line("outcome", string(c.Outcome)+": "+c.Reason)
		line("rerun", c.Rerun)
	}
	return b.String()
}

// worstRows are the red results, one for each row: a second cell that failed in
// the same way would only repeat the first.
func worstRows(c CaseVerdict) []RowVerdict {
	var rows []RowVerdict
	for _, r := range c.Results {
		same := func(o RowVerdict) bool { return o.Row == r.Row && o.Outcome == r.Outcome }
		if r.Red && !slices.ContainsFunc(rows, same) {
			rows = append(rows, r)
		}
	}
	return rows
}

// blockRow are the lines that one result decides.
func blockRow(r RowVerdict) []string {
	var control, wanted, got []string
	for _, s := range r.Steps {
		switch {
		case s.Kind == "control" && s.OK:
			control = append(control, stepGot(s))
		case !s.OK:
			wanted = append(wanted, s.Want)
			got = append(got, stepGot(s))
		}
	}
	if len(got) == 0 {
		got = []string{r.Reason}
	}
	if r.Outcome != Fail {
		got = []string{string(r.Outcome) + ": " + r.Reason}
	}
	var b strings.Builder
	writeField(&b, "control", strings.Join(control, "; "))
	writeField(&b, "wanted", strings.Join(wanted, "; "))
	writeField(&b, "got", strings.Join(got, "; "))
	writeField(&b, "at", r.At)
	return strings.Split(strings.TrimSuffix(b.String(), "\n"), "\n")
}

// writeField writes one line, its continuation lines below its value; a field
// without a value is left out.
func writeField(b *strings.Builder, key, value string) {
	if strings.TrimSpace(value) == "" {
		return
	}
	const indent = "            "
	value = strings.ReplaceAll(strings.TrimRight(printable(value), "\n"), "\n", "\n"+indent)
	fmt.Fprintf(b, "  %-9s %s\n", key, value)
}

// stepGot is what was done or asked, and the answer.
func stepGot(s Step) string {
	if s.What == "" {
		return s.Got
	}
	return s.What + " -> " + s.Got
}

func subjectLine(v Verdict, cell string) string {
	parts := []string{v.Subject.Title()}
	for _, name := range slices.Sorted(maps.Keys(v.Subject.Versions)) {
		parts = append(parts, name+" "+v.Subject.Versions[name])
	}
	for _, c := range v.Cells {
		if c.Name == cell {
			parts = append(parts, "kernel "+c.Kernel, "cell "+c.Name)
		}
	}
	return strings.Join(parts, "; ")
}

// evidenceLine names the folder that holds all files once, and the files in it.
func evidenceLine(dir string, files []string) string {
	if len(files) == 0 {
		return ""
	}
	folder := path.Dir(files[0])
	for _, f := range files {
		for folder != "." && !strings.HasPrefix(f, folder+"/") {
			folder = path.Dir(folder)
		}
	}
	var names []string
	for _, f := range files {
		names = append(names, strings.TrimPrefix(f, folder+"/"))
	}
	return path.Join(dir, folder) + "/ (" + strings.Join(names, ", ") + ")"
}

// printable shows control characters instead of sending them to the terminal:
// the text may be what the subject or its agent printed.
func printable(s string) string {
	var b strings.Builder
	for _, r := range s {
		if r != '\n' && r != '\t' && unicode.IsControl(r) {
			fmt.Fprintf(&b, "\\x%02x", r)
			continue
		}
		b.WriteRune(r)
	}
	return b.String()
}
