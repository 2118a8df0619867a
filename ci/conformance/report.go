package main

import (
	"fmt"
	"strings"
)

// row is one run and what it was found to be.
type row struct {
	run
	passed, ran            int
	explained, unexplained []difference
}

// report writes the table and everything that differs, in Markdown. It is red
// when a difference is not explained, when nothing passed, or, of a whole run,
// when an explanation is not needed any more.
func report(rows []row, explanations []*explanation, whole bool) (text string, red bool) {
	var b strings.Builder
	fmt.Fprint(&b, "| side | suite/specification | chain | door | scenarios passed | differences explained | unexplained |\n|---|---|---|---|---|---|---|\n")
	for _, r := range rows {
		fmt.Fprintf(&b, "| %s | %s | %s | %s | %d/%d | %d | %d |\n",
			r.side, r.suite.name, r.chain, r.door, r.passed, r.ran, len(r.explained), len(r.unexplained))
		red = red || r.passed == 0 || len(r.unexplained) > 0
	}
	unexplained(&b, rows)
	for _, e := range explanations {
		if whole && !e.used && !e.Sometimes {
			red = true
			fmt.Fprintf(&b, "\nSTALE %s: %s: nothing differs there any more; remove the entry from differences.yaml\n", e.Side, strings.Join(e.Checks, " "))
		}
	}
	fmt.Fprint(&b, "\n")
	for _, e := range explanations {
		if e.used {
			fmt.Fprintf(&b, "- %s, `%s`: %s\n", e.Side, strings.Join(e.Checks, "`, `"), strings.Join(strings.Fields(e.Reason), " "))
		}
	}
	return b.String(), red
}

// unexplained writes each difference once, with the runs it was met in.
func unexplained(b *strings.Builder, rows []row) {
	var order []string
	where := map[string][]string{}
	for _, r := range rows {
		for _, d := range r.unexplained {
			text := fmt.Sprintf("%s %s: %s is %s direct, %s through the bridge", r.side, r.suite.name, d.check, d.direct, d.bridged)
			if where[text] == nil {
				order = append(order, text)
			}
			where[text] = append(where[text], r.chain+" by "+r.door)
		}
	}
	for _, text := range order {
		fmt.Fprintf(b, "\nUNEXPLAINED %s (%s)\n", text, strings.Join(where[text], ", "))
	}
}

// fact is a row for programs.
type fact struct {
	Side        string   `json:"side"`
	Suite       string   `json:"suite"`
	Chain       string   `json:"chain"`
	Door        string   `json:"door"`
	Passed      int      `json:"passed"`
	Ran         int      `json:"ran"`
	Unexplained []string `json:"unexplained"`
}

func facts(rows []row) (all []fact) {
	for _, r := range rows {
		f := fact{r.side, r.suite.name, r.chain, r.door, r.passed, r.ran, []string{}}
		for _, d := range r.unexplained {
			f.Unexplained = append(f.Unexplained, fmt.Sprintf("%s is %s direct, %s through the bridge", d.check, d.direct, d.bridged))
		}
		all = append(all, f)
	}
	return all
}
