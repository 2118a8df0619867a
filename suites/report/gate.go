package report

import (
	"slices"

	"bridgecheck/suites/catalog"
	"bridgecheck/suites/subject"
)

// Gate compares two subjects on the same host: the base of a change and its
// head. Each was run once or several times; an outcome that differs between
// runs of the same subject is a flip, named and never averaged away.
type Gate struct {
	Base, Head Subject
	// Broke: green on the base, red on the head. These close the gate.
	Broke []Change
	// Withdrawn: green on the base, no longer claimed by the head. They close it
	// too: a claim that is dropped would hide what broke.
	Withdrawn []Change
	// Mended: red on the base, green on the head.
	Mended []Change
	// Gained: not claimed by the base, green on the head.
	Gained []Change
	// WasRed: red on both.
	WasRed []Change
	// Flips: the outcome changed between runs of one and the same subject.
	Flips []Change
	// Open: what cannot be judged, as blocked or an error of the harness.
	Open []Change
	// Same is how many are green, or not claimed, on both.
	Same int
	// Claims are capabilities that only the head claims.
	Claims []subject.Capability
	// Problems say why nothing can be concluded at all.
	Problems []string
}

// Change is one check on both sides.
type Change struct {
	Case CaseVerdict // of the head, or of the base where the head has none
	Base Outcome
	Head Outcome
	Why  string
}

// Compare judges the head by the base. Only levels S and I gate; a house rule is
// left out. Both sides must have run at least once.
func Compare(base, head []Verdict) Gate {
	var g Gate
	if len(base) == 0 || len(head) == 0 {
		g.Problems = append(g.Problems, "a side has not been run")
		return g
	}
	g.Base, g.Head = base[0].Subject, head[0].Subject
	for side, runs := range map[string][]Verdict{"base": base, "head": head} {
		for _, v := range runs {
			for _, p := range v.Problems {
				g.Problems = append(g.Problems, side+": "+p)
			}
		}
	}
	slices.Sort(g.Problems)
	for _, c := range head[0].Claims.Declared {
		if !slices.Contains(base[0].Claims.Declared, c) {
			g.Claims = append(g.Claims, c)
		}
	}
	for _, id := range gateIDs(base, head) {
		g.sort(id, base, head)
	}
	return g
}

// gateIDs are the ids that gate, of all runs, in order.
func gateIDs(sides ...[]Verdict) []string {
	var ids []string
	for _, runs := range sides {
		for _, v := range runs {
			for _, c := range v.Cases {
				if c.Level != catalog.House && c.Outcome != NotSelected {
					ids = append(ids, c.ID)
				}
			}
		}
	}
	slices.Sort(ids)
	return slices.Compact(ids)
}

// side is what all runs of one side say of one check.
type side struct {
	outcome Outcome
	flips   bool
	last    CaseVerdict
}

func sideOf(runs []Verdict, id string) side {
	s := side{outcome: NotSelected}
	for i, v := range runs {
		c, ok := v.Case(id)
		if !ok {
			c.Outcome = NotSelected
		}
		if i > 0 && c.Outcome != s.outcome {
			s.flips = true
		}
		if i == 0 || s.last.ID == "" || Worst(s.outcome, c.Outcome) == c.Outcome {
			s.outcome, s.last = c.Outcome, c
		}
	}
	return s
}

// sort files one check under what became of it.
func (g *Gate) sort(id string, base, head []Verdict) {
	b, h := sideOf(base, id), sideOf(head, id)
	c := Change{Case: h.last, Base: b.outcome, Head: h.outcome, Why: h.last.Reason}
	if c.Case.ID == "" {
		c.Case = b.last
	}
	if b.flips || h.flips {
		g.Flips = append(g.Flips, c)
		// A check that was steady and green and now flips has been broken.
		if !b.flips && isGreen(b.outcome) && !isGreen(h.outcome) {
			g.Broke = append(g.Broke, c)
		}
		return
	}
	switch {
	case undecided(h.outcome) || undecided(b.outcome):
		g.Open = append(g.Open, c)
	case isGreen(b.outcome) && h.outcome == NA:
		g.Withdrawn = append(g.Withdrawn, c)
	case b.outcome == NA && isGreen(h.outcome):
		g.Gained = append(g.Gained, c)
	case isGreen(b.outcome) && !isGreen(h.outcome), b.outcome == NA && h.outcome == Fail:
		g.Broke = append(g.Broke, c)
	case !isGreen(b.outcome) && b.outcome != NA && isGreen(h.outcome):
		g.Mended = append(g.Mended, c)
	case !isGreen(b.outcome) && b.outcome != NA:
		g.WasRed = append(g.WasRed, c)
	default:
		g.Same++
	}
}

func isGreen(o Outcome) bool { return o == Pass || o == Mended || o == Stale || o == MootDoor }

// undecided outcomes say nothing about the subject.
func undecided(o Outcome) bool {
	return o == BlockedHost || o == Error || o == Invalid || o == NotSelected
}

// Exit is 0 when the head broke nothing, 1 when it did, and 4 when that cannot
// be said: a side is invalid, nothing was judged, or a check that was green on
// the base could not be judged on the head.
func (g Gate) Exit() int {
	lost := slices.ContainsFunc(g.Open, func(c Change) bool { return isGreen(c.Base) })
	judged := g.Same + len(g.Mended) + len(g.Gained) + len(g.WasRed) + len(g.Flips)
	switch {
	case len(g.Problems) > 0:
		return ExitHarness
	case len(g.Broke)+len(g.Withdrawn) > 0:
		return ExitNot
	case lost, judged == 0:
		return ExitHarness
	}
	return ExitConformant
}
