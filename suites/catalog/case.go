// Package catalog is a leaf: what a check is, its permanent id, and the list of
// all of them. CASES.md and cases.json are written from it and never by hand.
package catalog

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"bridgecheck/suites/subject"
)

// Level says whom a check gates.
type Level string

// The levels. Security and interoperability gate every subject that claims the
// capability; house rules gate the reference bridge alone.
const (
	Security         Level = "S"
	Interoperability Level = "I"
	House            Level = "H"
)

// Case is one check. The literal stands beside the body that proves it.
type Case struct {
	// ID is permanent: AREA-NNN, never renumbered and never reused.
	ID string
	// Title is the behaviour that is observed, in the present tense.
	Title string
	// Must is the one normative sentence.
	Must  string
	Level Level
	// Clause is the number of the clause in CONTRACT.md.
	Clause string
	// Needs are the capabilities without which the check does not apply.
	Needs []subject.Capability
	// Host are facts the cell must have for the check to be possible.
	Host []HostFact
	// RowHost are facts that only some of the rows need.
	RowHost []HostFact
	// Faults are the planted faults that must turn the check red.
	Faults []string
	// Rows are the table rows, each an id of its own (ID.row).
	Rows []string
	// OfRun marks a check without a body: it is judged by what the other checks of
	// the run have shown.
	OfRun bool
	// File is where the check stands, as in suites/loopback/interface.go:17. It is
	// filled in by kit.
	File string
	// Why is the attack or the incident behind the check.
	Why string
}

// HostFact is something a cell has or lacks; the lab finds it out by doing.
type HostFact string

// The facts that checks may need of a cell.
const (
	HostUserNS   HostFact = "userns"   // can make a user and network namespace
	HostIPv6     HostFact = "ipv6"     // has ::1
	HostRoot     HostFact = "root"     // checks run as uid 0
	HostTwoUIDs  HostFact = "two-uids" // can start a process under another uid
	HostLandlock HostFact = "landlock" // has Landlock
	HostTools    HostFact = "tools"    // was given what make conformance and make agents install
)

// Area is the part of the id before the dash.
func (c Case) Area() string { area, _, _ := strings.Cut(c.ID, "-"); return area }

// Labels are what checks can be chosen by besides id and profile: area, level,
// needs and host, each as key:value.
func (c Case) Labels() []string {
	labels := []string{"area:" + c.Area(), "level:" + string(c.Level)}
	for _, need := range c.Needs {
		labels = append(labels, "needs:"+string(need))
	}
	for _, fact := range c.Host {
		labels = append(labels, "host:"+string(fact))
	}
	return labels
}

// OnRequest tells whether the check is run only where it is asked for: it needs
// more than a host has by itself.
func (c Case) OnRequest() bool { return slices.Contains(c.Host, HostTools) }

var (
	idPattern  = regexp.MustCompile(`^(LPB|RLY|ALW|LIF|FBK|MCP|PTH|AGT|ESC|CAP|ARA|PRF)-[0-9]{3}$`)
	rowPattern = regexp.MustCompile(`^[a-z0-9][a-z0-9-]*$`)
)

// Validate tells what is missing from the literal. Every S and I check must name
// a planted fault: a check that nothing can turn red proves nothing.
func (c Case) Validate() error {
	switch {
	case !idPattern.MatchString(c.ID):
		return fmt.Errorf("case %q: the id must be AREA-NNN with a known area", c.ID)
	case c.Title == "" || c.Must == "" || c.Clause == "":
		return fmt.Errorf("case %s: title, must and clause must be given", c.ID)
	case !slices.Contains([]Level{Security, Interoperability, House}, c.Level):
		return fmt.Errorf("case %s: level %q must be S, I or H", c.ID, c.Level)
	case c.Level != House && len(c.Faults) == 0:
		return fmt.Errorf("case %s: level %s needs a planted fault", c.ID, c.Level)
	}
	for _, need := range c.Needs {
		if !slices.Contains(subject.All(), need) {
			return fmt.Errorf("case %s: capability %q is unknown", c.ID, need)
		}
	}
	for _, row := range c.Rows {
		if !rowPattern.MatchString(row) {
			return fmt.Errorf("case %s: row %q must be lower-case words joined by dashes", c.ID, row)
		}
	}
	return nil
}
