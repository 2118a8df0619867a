package report

import "slices"

// point is a row of a check in a cell; the check as a whole where it has no
// results.
type point struct{ row, cell string }

// pointsOf are all that any run has of a check, in the order of the runs.
func pointsOf(id string, sides ...[]Verdict) []point {
	var all []point
	for _, runs := range sides {
		for _, v := range runs {
			c, _ := v.Case(id)
			for _, r := range c.Results {
				if p := (point{r.Row, r.Cell}); !slices.Contains(all, p) {
					all = append(all, p)
				}
			}
		}
	}
	if all == nil {
		all = []point{{}}
	}
	return all
}

// in is the outcome of the point in a run.
func (p point) in(v Verdict, id string) Outcome {
	c, ok := v.Case(id)
	if !ok {
		return NotSelected
	}
	for _, r := range c.Results {
		if r.Row == p.row && r.Cell == p.cell {
			return r.Outcome
		}
	}
	if p == (point{}) || c.Outcome == NA || c.Outcome == Invalid {
		return c.Outcome // of the whole check
	}
	return NotSelected
}

// side is what all runs of one side say of one point.
type side struct {
	outcome Outcome // the worst
	flips   bool
}

func sideOf(runs []Verdict, id string, p point) side {
	s := side{outcome: NotSelected}
	for i, v := range runs {
		o := p.in(v, id)
		s.flips = s.flips || i > 0 && o != s.outcome
		s.outcome = Worst(s.outcome, o)
	}
	return s
}

// change tells of the points what a reader needs; whole says that the check has
// no others.
func change(id string, points []point, whole bool, base, head []Verdict) Change {
	c := Change{Case: worstCase(head, id, points), Base: NotSelected, Head: NotSelected}
	if c.Case.ID == "" {
		c.Case = worstCase(base, id, points)
	}
	for _, p := range points {
		c.Base = Worst(c.Base, sideOf(base, id, p).outcome)
		c.Head = Worst(c.Head, sideOf(head, id, p).outcome)
		if name := p.row; !whole && name != "" && !slices.Contains(c.Rows, name) {
			c.Rows = append(c.Rows, name)
		}
	}
	c.Why = c.Case.Reason
	return c
}

// worstCase is the check of the run in which it came off worst, with the results
// of the points alone.
func worstCase(runs []Verdict, id string, points []point) (worst CaseVerdict) {
	for _, v := range runs {
		c, ok := v.Case(id)
		if !ok || c.Outcome == NotSelected || worst.ID != "" && Worst(worst.Outcome, c.Outcome) == worst.Outcome {
			continue
		}
		worst = c
	}
	worst.Results = slices.DeleteFunc(slices.Clone(worst.Results), func(r RowVerdict) bool {
		return !slices.Contains(points, point{r.Row, r.Cell})
	})
	return worst
}
