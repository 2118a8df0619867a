package report

import "slices"

// Outcome is what one check, or one row of it in one cell, is worth.
type Outcome string

// The outcomes of DESIGN.md. A case has the worst outcome of its rows and cells.
const (
	NotSelected  Outcome = "not-selected"
	NA           Outcome = "n/a"
	Pass         Outcome = "pass"
	Mended       Outcome = "mended"
	MootDoor     Outcome = "moot"
	BlockedHost  Outcome = "blocked"
	ExpectedFail Outcome = "expected-fail"
	Stale        Outcome = "stale"
	Fail         Outcome = "fail"
	Error        Outcome = "error"
	Invalid      Outcome = "invalid"
)

// Outcomes are all outcomes, from the one that says least to the worst.
func Outcomes() []Outcome {
	return []Outcome{
		NotSelected, NA, MootDoor, Pass, Mended, ExpectedFail, BlockedHost,
		Stale, Fail, Error, Invalid,
	}
}

// judged is an outcome and whether it gates. The two are apart because the same
// outcome weighs differently by run: blocked is red only when strict, and a
// level H failure only for our own subject.
type judged struct {
	outcome Outcome
	red     bool
	why     string
}

// Worst returns the worse of two outcomes by the order of [Outcomes].
func Worst(a, b Outcome) Outcome {
	if slices.Index(Outcomes(), b) > slices.Index(Outcomes(), a) {
		return b
	}
	return a
}

// rank orders judgements: what is red beats what is not, then the list decides.
func (j judged) rank() int {
	rank := slices.Index(Outcomes(), j.outcome)
	if j.red {
		rank += len(Outcomes())
	}
	return rank
}

// worse returns the worse of two judgements, the first of equals.
func worse(a, b judged) judged {
	if b.rank() > a.rank() {
		return b
	}
	return a
}

// Standing is the result of a profile, or of a whole run.
type Standing string

// The standings. Partial means conformant as far as it could be looked at:
// something is blocked, in the baseline, not claimed or was not chosen.
const (
	Conformant    Standing = "conformant"
	Partial       Standing = "partial"
	NonConformant Standing = "non-conformant"
	InvalidRun    Standing = "invalid"
)

// Exit codes of a judged run. 2 is bad usage, which no verdict can have.
const (
	ExitConformant = 0
	ExitNot        = 1
	ExitUsage      = 2
	ExitHost       = 3 // all that is red is what this host cannot give
	ExitHarness    = 4 // the harness is at fault, or nothing can be concluded
)
