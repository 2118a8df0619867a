package catalog

import (
	"fmt"
	"strings"
)

// Explain says in plain text what a check demands, of whom, why, what must turn
// it red and how to run it alone.
func Explain(c Case) string {
	var b strings.Builder
	line := func(label, text string) {
		if text != "" {
			fmt.Fprintf(&b, "  %-9s %s\n", label, text)
		}
	}
	fmt.Fprintf(&b, "%s %s\n", c.ID, c.Title)
	line("requires", c.Must)
	line("clause", c.Clause+" of suites/CONTRACT.md")
	line("level", c.Level.explain())
	var needs, host []string
	for _, n := range c.Needs {
		needs = append(needs, string(n))
	}
	for _, h := range c.Host {
		host = append(host, string(h))
	}
	line("of", orNothing(needs, "every subject", "subjects that claim "))
	line("on", orNothing(host, "every host", "hosts with "))
	line("rows", strings.Join(c.Rows, " "))
	line("why", c.Why)
	line("red on", strings.Join(c.Faults, ", "))
	line("code", c.File)
	run := "make case ID=" + c.ID
	if c.OnRequest() {
		run += " TOOLS=build, when make agents has installed what it needs"
	}
	if c.OfRun {
		run = "make verify: it is judged by what all other checks have shown"
	}
	line("run", run)
	return b.String()
}

func orNothing(words []string, nothing, before string) string {
	if len(words) == 0 {
		return nothing
	}
	return before + strings.Join(words, ", ")
}

func (l Level) explain() string {
	switch l {
	case Security:
		return "S, security: gates every subject that claims the capability"
	case Interoperability:
		return "I, interoperability: gates every subject that claims the capability"
	}
	return "H, house rule: gates the reference bridge alone, shown for others"
}
