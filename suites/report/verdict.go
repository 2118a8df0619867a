package report

import (
	"bridgecheck/suites/catalog"
	"bridgecheck/suites/subject"
)

// Format is the version of verdict.yaml; verdict.schema.json describes it.
const Format = 1

// Verdict is everything a reader of a run gets to see. All reports are written
// from it and from nothing else.
type Verdict struct {
	Format int      `json:"format"`
	Result Standing `json:"result"`
	// Exit is the exit code of the run.
	Exit int `json:"exit"`
	// Problems say why nothing can be concluded; with one the result is invalid.
	Problems []string `json:"problems,omitempty"`
	// HostLacks is what this host could not give to the whole run.
	HostLacks []string         `json:"host_lacks,omitempty"`
	Strict    bool             `json:"strict"`
	Subject   Subject          `json:"subject"`
	Suite     Suite            `json:"suite"`
	Cells     []Cell           `json:"cells"`
	Profiles  []ProfileVerdict `json:"profiles"`
	Counts    Counts           `json:"counts"`
	Claims    Claims           `json:"claims"`
	Cases     []CaseVerdict    `json:"cases"`
}

// Subject names what was judged.
type Subject struct {
	Name string `json:"name"`
	// Arg is what SUBJECT= has to be for a rerun.
	Arg      string            `json:"arg"`
	Ours     bool              `json:"ours"`
	Versions map[string]string `json:"versions,omitempty"`
	// Double is the subject's own word that something stands in for what it is
	// called by.
	Double bool `json:"double,omitempty"`
}

// Title is the name for people, with the mark of a double.
func (s Subject) Title() string {
	if s.Double {
		return s.Name + " (double)"
	}
	return s.Name
}

// Suite names what judged.
type Suite struct {
	Release string `json:"release,omitempty"`
	Commit  string `json:"commit,omitempty"`
}

// Counts are numbers of checks by outcome; an absent outcome is 0.
type Counts map[Outcome]int

// Claims compares what the subject claims with what a passed check has used.
type Claims struct {
	Declared  []subject.Capability `json:"declared,omitempty"`
	Exercised []subject.Capability `json:"exercised,omitempty"`
}

// ProfileVerdict is the result of one profile.
type ProfileVerdict struct {
	Name     string   `json:"name"`
	Why      string   `json:"why"`
	Result   Standing `json:"result"`
	Required int      `json:"required"`
	Counts   Counts   `json:"counts"`
	// Unclaimed are the core capabilities that the subject does not claim.
	Unclaimed []subject.Capability `json:"unclaimed,omitempty"`
	// Because says what kept it from being conformant, id by id.
	Because []string `json:"because,omitempty"`
}

// CaseVerdict is what one check is worth over all rows and cells.
type CaseVerdict struct {
	ID      string               `json:"id"`
	Title   string               `json:"title"`
	Must    string               `json:"must"`
	Clause  string               `json:"clause"`
	Level   catalog.Level        `json:"level"`
	Needs   []subject.Capability `json:"needs,omitempty"`
	Faults  []string             `json:"faults,omitempty"`
	Why     string               `json:"why,omitempty"`
	Outcome Outcome              `json:"outcome"`
	// Red is true when the outcome gates this run.
	Red bool `json:"red"`
	// Reason says why, for every outcome but pass.
	Reason   string       `json:"reason,omitempty"`
	Baseline string       `json:"baseline,omitempty"`
	Rerun    string       `json:"rerun,omitempty"`
	Results  []RowVerdict `json:"results,omitempty"`
}

// RowVerdict is one result: a check, or a row of it, in one cell.
type RowVerdict struct {
	Row      string   `json:"row,omitempty"`
	Cell     string   `json:"cell"`
	Outcome  Outcome  `json:"outcome"`
	Red      bool     `json:"red"`
	Reason   string   `json:"reason,omitempty"`
	Levels   []string `json:"levels,omitempty"` // of isolation, that the subject told
	Steps    []Step   `json:"steps,omitempty"`
	At       string   `json:"at"`
	TookMS   float64  `json:"took_ms"`
	Evidence []string `json:"evidence,omitempty"`
}

// Red are the checks that gate, in the order of their ids.
func (v Verdict) Red() []CaseVerdict {
	var red []CaseVerdict
	for _, c := range v.Cases {
		if c.Red {
			red = append(red, c)
		}
	}
	return red
}

// Case returns the check with the id.
func (v Verdict) Case(id string) (CaseVerdict, bool) {
	for _, c := range v.Cases {
		if c.ID == id {
			return c, true
		}
	}
	return CaseVerdict{}, false
}

func (c Counts) add(o Outcome) { c[o]++ }
