package report

import "slices"

// Difference is what changed from one column to the next.
type Difference struct {
	From, To Column
	Changes  []Change
}

// Differences compares each column with the one before it.
func (g Group) Differences() []Difference {
	var all []Difference
	for i := 1; i < len(g.Columns); i++ {
		d := Difference{From: g.Columns[i-1], To: g.Columns[i]}
		for _, id := range g.IDs() {
			before, after := d.From.Outcome(id), d.To.Outcome(id)
			if before == after || before == "" || after == "" {
				continue
			}
			c := Change{Base: before, Head: after, Case: CaseVerdict{ID: id, Title: g.Title(id)}}
			c.Why = d.To.reason(id)
			if c.Why == "" {
				c.Why = d.From.reason(id)
			}
			d.Changes = append(d.Changes, c)
		}
		all = append(all, d)
	}
	return all
}

func (c Column) reason(id string) string {
	if id == LinkID {
		if c.Outcome(id) == Fail {
			return c.Link.Text()
		}
		return ""
	}
	if c.Verdict == nil {
		return ""
	}
	found, _ := c.Verdict.Case(id)
	if found.Outcome == Pass {
		return ""
	}
	return gotLine(found)
}

// IDs are the checks that at least one column says something of, the fitting of
// the parts first.
func (g Group) IDs() []string {
	var ids []string
	for _, c := range g.Columns {
		if c.Verdict == nil {
			continue
		}
		for _, found := range c.Verdict.Cases {
			if found.Outcome != NotSelected {
				ids = append(ids, found.ID)
			}
		}
	}
	slices.Sort(ids)
	ids = slices.Compact(ids)
	if slices.ContainsFunc(g.Columns, func(c Column) bool { return c.Link != nil }) {
		ids = append([]string{LinkID}, ids...)
	}
	return ids
}

// Title is that of the check.
func (g Group) Title(id string) string {
	if id == LinkID {
		return linkTitle
	}
	for _, c := range g.Columns {
		if c.Verdict == nil {
			continue
		}
		if found, ok := c.Verdict.Case(id); ok {
			return found.Title
		}
	}
	return ""
}

// Uneven are the checks on which the columns differ, Even the others. A column
// that says nothing of a check does not differ.
func (g Group) Uneven() []string { return g.split(false) }

// Even are the checks of which all columns say the same.
func (g Group) Even() []string { return g.split(true) }

func (g Group) split(even bool) []string {
	return slices.DeleteFunc(g.IDs(), func(id string) bool { return (len(g.outcomes(id)) <= 1) != even })
}

// outcomes are those that occur in the columns, each once.
func (g Group) outcomes(id string) []Outcome {
	var all []Outcome
	for _, c := range g.Columns {
		if o := c.Outcome(id); o != "" && !slices.Contains(all, o) {
			all = append(all, o)
		}
	}
	return all
}
