package mutants

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/goccy/go-yaml"

	"bridgecheck/suites/report"
)

// WriteTable writes the kill table: each fault, the checks that had to catch it,
// and what else it turned red. What went wrong follows below.
func WriteTable(out io.Writer, r Result) error {
	var b strings.Builder
	w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "fault\tresult\tmust be caught by\talso red")
	for _, k := range r.Kills {
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\n", k.Name, verdictOf(k), list(k.Named), list(k.Also))
	}
	w.Flush()
	var text strings.Builder
	text.WriteString(trimLines(b.String()))
	for _, k := range append([]Kill{r.Control}, r.Kills...) {
		if k.Problem != "" {
			fmt.Fprintf(&text, "%s: %s\n", k.Name, k.Problem)
		}
	}
	text.WriteString(r.Sentence() + "\n")
	if _, err := io.WriteString(out, text.String()); err != nil {
		return fmt.Errorf("write kill table: %w", err)
	}
	return nil
}

func verdictOf(k Kill) string {
	switch {
	case k.Problem != "":
		return "not tried"
	case k.Caught() && k.Alone:
		return "caught alone"
	case k.Caught():
		return "caught"
	}
	return "MISSED"
}

func list(seen []Seen) string { return strings.Join(words(seen), " ") }

// words names the checks, and the outcome where it is not a failure.
func words(seen []Seen) []string {
	var words []string
	for _, s := range seen {
		word := s.ID
		if s.Outcome != report.Fail {
			word += "(" + string(s.Outcome) + ")"
		}
		words = append(words, word)
	}
	return words
}

func trimLines(s string) string {
	lines := strings.Split(s, "\n")
	for i, l := range lines {
		lines[i] = strings.TrimRight(l, " ")
	}
	return strings.Join(lines, "\n")
}

// MedianAlso is how many checks the median fault turns red beside its own: the
// measure of how narrow the faults are.
func (r Result) MedianAlso() int {
	counts := make([]int, 0, len(r.Kills))
	for _, k := range r.Kills {
		counts = append(counts, len(k.Also))
	}
	if len(counts) == 0 {
		return 0
	}
	slices.Sort(counts)
	return counts[len(counts)/2]
}

// Sentence says how many faults were caught, how narrow they are, and which of
// the checks that they met none of them turned red.
func (r Result) Sentence() string {
	caught := 0
	for _, k := range r.Kills {
		if k.Caught() {
			caught++
		}
	}
	s := fmt.Sprintf("%d of %d faults caught; median %d more checks red", caught, len(r.Kills), r.MedianAlso())
	red := r.redBy()
	if idle := slices.DeleteFunc(slices.Clone(r.IDs), func(id string) bool { return len(red[id]) > 0 }); len(idle) > 0 {
		s += "; turned red by none: " + strings.Join(idle, " ")
	}
	return s
}

// redBy are the faults that turned each check red.
func (r Result) redBy() map[string][]string {
	by := map[string][]string{}
	for _, k := range r.Kills {
		for _, s := range slices.Concat(k.Named, k.Also) {
			if s.Outcome == report.Fail && !slices.Contains(by[caseOf(s.ID)], k.Name) {
				by[caseOf(s.ID)] = append(by[caseOf(s.ID)], k.Name)
			}
		}
	}
	return by
}

// MatrixYAML is the kill matrix for programs.
func MatrixYAML(r Result) ([]byte, error) {
	data, err := report.EncodeYAML(r)
	if err != nil {
		return nil, fmt.Errorf("encode kill matrix: %w", err)
	}
	return data, nil
}

// MatrixMarkdown is the kill matrix for people: by fault, then by check. A check
// that no fault turned red, and a fault that turned nothing red, are empty rows.
func MatrixMarkdown(r Result) string {
	var b strings.Builder
	b.WriteString("# Kill matrix\n\n| fault | result | must be caught by | also red |\n|---|---|---|---|\n")
	by := r.redBy()
	for _, k := range r.Kills {
		fmt.Fprintf(&b, "| %s | %s | %s | %s |\n", k.Name, verdictOf(k), list(k.Named), list(k.Also))
	}
	b.WriteString("\n| check | turned red by |\n|---|---|\n")
	for _, id := range r.IDs {
		fmt.Fprintf(&b, "| %s | %s |\n", id, strings.Join(by[id], " "))
	}
	fmt.Fprintf(&b, "\n%s.\n", r.Sentence())
	return b.String()
}

// ParseMatrix reads what [MatrixYAML] wrote.
func ParseMatrix(data []byte) (Result, error) {
	var r Result
	if err := yaml.UnmarshalWithOptions(data, &r, yaml.DisallowUnknownField()); err != nil {
		return Result{}, fmt.Errorf("read kill matrix: %w", err)
	}
	return r, nil
}

// Rows is the kill matrix as report.html shows it.
func (r Result) Rows() []report.KillRow {
	var rows []report.KillRow
	for _, k := range r.Kills {
		why := k.Why
		if k.Problem != "" {
			why += " Not tried: " + k.Problem
		}
		rows = append(rows, report.KillRow{
			Name: k.Name, Why: why, Caught: k.Caught(), Named: words(k.Named), Also: words(k.Also),
		})
	}
	return rows
}
