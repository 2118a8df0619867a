package report

import (
	"fmt"
	"io"
	"os"
	"strings"
	"text/tabwriter"

	"golang.org/x/sys/unix"
)

// TextOptions say how the terminal text is written.
type TextOptions struct {
	// Color uses ANSI colours; see [UseColor].
	Color bool
	// Dir is the results folder as the reader knows it.
	Dir string
}

// UseColor tells whether out is a terminal and NO_COLOR is unset or empty
// (no-color.org), and TERM is not dumb.
func UseColor(out *os.File) bool {
	if os.Getenv("NO_COLOR") != "" || os.Getenv("TERM") == "dumb" {
		return false
	}
	_, err := unix.IoctlGetTermios(int(out.Fd()), unix.TCGETS)
	return err == nil
}

// WriteText writes what ends a run on a terminal: each check that gates, then
// the verdict table and where the report lies.
func WriteText(out io.Writer, v Verdict, o TextOptions) error {
	var b strings.Builder
	for _, c := range v.Red() {
		b.WriteString(paint(o, red, Block(v, c, o.Dir)) + "\n")
	}
	writeTable(&b, v, o)
	for _, note := range notes(v) {
		b.WriteString(printable(note) + "\n")
	}
	for _, p := range v.Problems {
		b.WriteString(paint(o, red, "invalid: "+printable(p)) + "\n")
	}
	if o.Dir != "" {
		fmt.Fprintf(&b, "report  %s\n", strings.TrimSuffix(o.Dir, "/")+"/report.html")
	}
	if _, err := io.WriteString(out, b.String()); err != nil {
		return fmt.Errorf("write verdict text: %w", err)
	}
	return nil
}

const (
	red    = "31"
	green  = "32"
	yellow = "33"
)

// paint colours the first line only, so that what is copied stays readable.
func paint(o TextOptions, code, text string) string {
	if !o.Color {
		return text
	}
	first, rest, more := strings.Cut(text, "\n")
	if more {
		rest = "\n" + rest
	}
	return "\x1b[" + code + "m" + first + "\x1b[0m" + rest
}

func writeTable(b *strings.Builder, v Verdict, o TextOptions) {
	var t strings.Builder
	w := tabwriter.NewWriter(&t, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "profile\tresult\tpass\tfail\tblocked\tn/a\tother")
	for _, p := range v.Profiles {
		fmt.Fprintf(w, "%s\t%s\t%s\n", p.Name, p.Result, countCells(p.Counts))
	}
	fmt.Fprintf(w, "%s\t%s\t%s\n", allChecks(v), v.Result, countCells(v.Counts))
	w.Flush()
	for i, line := range strings.Split(strings.TrimSuffix(t.String(), "\n"), "\n") {
		line = strings.TrimRight(line, " ")
		if i > 0 {
			result := v.Result
			if i <= len(v.Profiles) {
				result = v.Profiles[i-1].Result
			}
			line = strings.Replace(line, string(result), paint(o, standingColor(result), string(result)), 1)
		}
		b.WriteString(line + "\n")
	}
}

// allChecks is the head of the last line, which is what people quote.
func allChecks(v Verdict) string {
	if v.Subject.Double {
		return "all checks (double)"
	}
	return "all checks"
}

func standingColor(s Standing) string {
	switch s {
	case Conformant:
		return green
	case Partial:
		return yellow
	}
	return red
}

// countCells are the four columns that are always there and the rest by name.
func countCells(c Counts) string {
	var other []string
	for _, o := range Outcomes() {
		switch o {
		case Pass, Fail, BlockedHost, NA, NotSelected:
			continue
		}
		if c[o] > 0 {
			other = append(other, fmt.Sprintf("%d %s", c[o], o))
		}
	}
	return fmt.Sprintf("%d\t%d\t%d\t%d\t%s", c[Pass], c[Fail], c[BlockedHost], c[NA], strings.Join(other, ", "))
}

// notes are what must be said although it does not gate.
func notes(v Verdict) []string {
	var notes []string
	if v.Subject.Double {
		notes = append(notes, v.Subject.Name+" is a double: something stands in for what it is called by, and this verdict is none on that")
	}
	for _, p := range v.Profiles {
		if len(p.Unclaimed) > 0 {
			notes = append(notes, fmt.Sprintf("%s cannot be conformant: its core is not claimed: %s", p.Name, joinWords(p.Unclaimed)))
		}
	}
	for _, h := range v.HostLacks {
		notes = append(notes, "this host lacks: "+h)
	}
	for _, c := range v.Cases {
		switch {
		case c.Red:
		case c.Outcome == BlockedHost, c.Outcome == Fail, c.Outcome == ExpectedFail, c.Outcome == Mended:
			notes = append(notes, fmt.Sprintf("%s %s: %s", c.ID, c.Outcome, c.Reason))
		}
	}
	return notes
}
