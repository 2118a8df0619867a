// Package report turns what a suite run observed into a verdict. The suites
// write [Facts] and judge nothing beyond one check; [Judge] in the parent
// process makes outcomes, profiles and an exit code of them. A run whose facts
// are missing or unfinished is invalid: Ginkgo's exit code is never asked.
package report

import (
	"bridgecheck/suites/catalog"
	"bridgecheck/suites/subject"
)

// Facts is the file one shard of one cell writes, last thing before it ends.
type Facts struct {
	// Finished is true only when the run came to its end.
	Finished bool                `json:"finished"`
	Subject  subject.Description `json:"subject"`
	Cell     Cell                `json:"cell"`
	// Selected are the ids that were to run in this shard.
	Selected []string `json:"selected"`
	Results  []Result `json:"results"`
}

// Cell is the environment the checks ran in.
type Cell struct {
	Name   string `json:"name"`   // user, root
	Engine string `json:"engine"` // docker 20.10.24, podman 4.3.1, none
	// Privilege names the strongest form the engine granted: privileged,
	// all-but-one, or namespace where there is no engine.
	Privilege string `json:"privilege"`
	UID       int    `json:"uid"`
	Kernel    string `json:"kernel"`
	// Host are the facts found by doing; a missing key means no.
	Host map[catalog.HostFact]string `json:"host"`
}

// State is what became of one check or row, before it is judged.
type State string

// The states. A skip that kit did not make is an error of the harness.
const (
	Passed        State = "passed"
	Failed        State = "failed"
	NotApplicable State = "n/a"     // a capability is not claimed
	Blocked       State = "blocked" // claimed, but this host cannot
	Moot          State = "moot"    // the door does not exist on this host: its control failed outside too
	Errored       State = "error"   // fixture, probe or harness at fault
)

// Result is one check, or one row of it.
type Result struct {
	ID    string `json:"id"`
	Row   string `json:"row,omitempty"`
	State State  `json:"state"`
	// Reason says why in a sentence, for every state but passed.
	Reason string `json:"reason,omitempty"`
	// Uses are the claimed capabilities that the check needed.
	Uses []subject.Capability `json:"uses,omitempty"`
	// Lacks is what the cell is without, of a blocked result.
	Lacks catalog.HostFact `json:"lacks,omitempty"`
	// Levels are the levels of isolation that the subject told of its phases, in
	// the order in which they came.
	Levels []string `json:"levels,omitempty"`
	Steps  []Step   `json:"steps,omitempty"`
	At     string   `json:"at"` // file:line of the assertion, or of the check
	TookMS float64  `json:"took_ms"`
	// Evidence are files below the results folder.
	Evidence []string `json:"evidence,omitempty"`
}

// Step is one assertion of a check.
type Step struct {
	Kind string `json:"kind"` // control, attempt, far side
	What string `json:"what"`
	Want string `json:"want"`
	Got  string `json:"got"`
	OK   bool   `json:"ok"`
}
