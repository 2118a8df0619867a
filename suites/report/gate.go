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
	// Same is how many checks are green, or not claimed, on both, in every row.
	Same int
	// Claims are capabilities that only the head claims, Dropped those that only
	// the base does.
	Claims, Dropped []subject.Capability
	// Problems say why nothing can be concluded at all.
	Problems []string

	decided int // checks of which at least one row could be judged
}

// Change is what became of one check, or of some of its rows and cells: those
// that became something else stand elsewhere.
type Change struct {
	// Case is that of the head, or of the base where the head has none, with the
	// results of the rows concerned.
	Case CaseVerdict
	// Base and Head are the worst outcomes of those rows.
	Base, Head Outcome
	// Rows are their names, none where it is the check as a whole.
	Rows []string
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
	g.Claims = without(head[0].Claims.Declared, base[0].Claims.Declared)
	g.Dropped = without(base[0].Claims.Declared, head[0].Claims.Declared)
	all := gateIDs(base, head)
	if len(all) == 0 {
		g.Problems = append(g.Problems, "no check of level S or I was run, and only those gate")
	}
	for _, id := range all {
		g.sort(id, base, head)
	}
	return g
}

func without(all, others []subject.Capability) []subject.Capability {
	return slices.DeleteFunc(slices.Clone(all), func(c subject.Capability) bool { return slices.Contains(others, c) })
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

// sort files one check under what became of it, its rows apart: a row that was
// red, or that this host cannot show, hides no other.
func (g *Gate) sort(id string, base, head []Verdict) {
	points := pointsOf(id, base, head)
	found := map[*[]Change][]point{}
	for _, p := range points {
		for _, under := range g.file(sideOf(base, id, p), sideOf(head, id, p)) {
			found[under] = append(found[under], p)
		}
	}
	if len(found) == 0 {
		g.Same++
	}
	if len(found[&g.Open]) < len(points) {
		g.decided++
	}
	for under, some := range found {
		*under = append(*under, change(id, some, len(some) == len(points), base, head))
	}
}

// file tells where a row belongs; nowhere when nothing has changed.
func (g *Gate) file(b, h side) []*[]Change {
	if b.flips || h.flips {
		// What was steady and green and now flips has been broken.
		if !b.flips && isGreen(b.outcome) && !isGreen(h.outcome) {
			return []*[]Change{&g.Flips, &g.Broke}
		}
		return []*[]Change{&g.Flips}
	}
	switch {
	case undecided(h.outcome) || undecided(b.outcome):
		return []*[]Change{&g.Open}
	case isGreen(b.outcome) && h.outcome == NA:
		return []*[]Change{&g.Withdrawn}
	case b.outcome == NA && isGreen(h.outcome):
		return []*[]Change{&g.Gained}
	case isGreen(b.outcome) && !isGreen(h.outcome), b.outcome == NA && h.outcome == Fail:
		return []*[]Change{&g.Broke}
	case !isGreen(b.outcome) && b.outcome != NA && isGreen(h.outcome):
		return []*[]Change{&g.Mended}
	case !isGreen(b.outcome) && b.outcome != NA:
		return []*[]Change{&g.WasRed}
	}
	return nil
}

func isGreen(o Outcome) bool { return o == Pass || o == Mended || o == Stale || o == MootDoor }

// undecided outcomes say nothing about the subject.
func undecided(o Outcome) bool {
	return o == BlockedHost || o == Error || o == Invalid || o == NotSelected
}

// Exit is 0 when the head broke nothing, 1 when it did, and 4 when that cannot
// be said: a side is invalid, nothing was judged, or what could not be judged was
// green on the base, or is red on the head.
func (g Gate) Exit() int {
	lost := slices.ContainsFunc(g.Open, func(c Change) bool { return isGreen(c.Base) || c.Head == Fail })
	judged := g.decided + len(g.Mended) // a side that could be built again was not run
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
