package report

import (
	"cmp"
	"fmt"
	"slices"

	"bridgecheck/suites/catalog"
	"bridgecheck/suites/subject"
)

// Judge makes a verdict of the facts, one for each cell and shard. It never
// fails: what it cannot conclude from is an invalid verdict that says why.
func Judge(facts []Facts, opts Options) Verdict {
	j := &judge{opts: opts, facts: facts, problems: slices.Clone(opts.Problems)}
	j.checkRun()
	v := Verdict{
		Format: Format, Strict: opts.Strict, HostLacks: opts.HostLacks,
		Suite:   Suite{Release: opts.Release, Commit: opts.Commit},
		Subject: j.subject(), Cells: j.cells(), Counts: Counts{},
	}
	for _, c := range j.catalog() {
		v.Cases = append(v.Cases, j.judgeCase(c))
	}
	v.Claims = j.claims(v)
	for i, c := range j.catalog() {
		if c.OfRun {
			v.Cases[i] = j.judgeClaims(c, v)
		}
		v.Counts.add(v.Cases[i].Outcome)
	}
	j.checkRan(v)
	for _, p := range opts.Profiles {
		if p.Optional && !applies(p, v) {
			continue
		}
		v.Profiles = append(v.Profiles, j.judgeProfile(p, v))
	}
	v.Problems = j.problems
	for i := range v.Profiles {
		if len(v.Problems) > 0 {
			v.Profiles[i].Result = InvalidRun
		}
	}
	v.Result, v.Exit = conclude(v)
	return v
}

type judge struct {
	opts     Options
	facts    []Facts
	problems []string
}

func (j *judge) problem(format string, args ...any) {
	j.problems = append(j.problems, fmt.Sprintf(format, args...))
}

// catalog is every registered check, by id, each once.
func (j *judge) catalog() []catalog.Case {
	cases := slices.Clone(j.opts.Registered)
	slices.SortFunc(cases, func(a, b catalog.Case) int { return cmp.Compare(a.ID, b.ID) })
	return cases
}

// described is the description of the first shard that has one; that all others
// agree is checked in checkRun.
func (j *judge) described() subject.Description {
	for _, f := range j.facts {
		if f.Subject.Name != "" {
			return f.Subject
		}
	}
	return subject.Description{}
}

func (j *judge) subject() Subject {
	d := j.described()
	s := Subject{Name: d.Name, Arg: j.opts.SubjectArg, Ours: j.opts.SubjectIsOurs, Versions: d.Versions, Double: d.Double}
	if j.opts.Label != "" {
		s.Name = j.opts.Label
	}
	if s.Arg == "" {
		s.Arg = d.Name
	}
	return s
}

// cells is each cell once, as a shard that ended saw it.
func (j *judge) cells() []Cell {
	var cells []Cell
	for _, f := range j.facts {
		i := slices.IndexFunc(cells, func(c Cell) bool { return c.Name == f.Cell.Name })
		switch {
		case i < 0:
			cells = append(cells, f.Cell)
		case cells[i].Host == nil:
			cells[i] = f.Cell
		}
	}
	return cells
}

// conclude is the result and the exit code of the whole run. What the harness
// did wrong outweighs what it found: its findings cannot be believed then.
func conclude(v Verdict) (Standing, int) {
	invalid := slices.ContainsFunc(v.Profiles, func(p ProfileVerdict) bool { return p.Result == InvalidRun })
	if invalid || len(v.Problems) > 0 || v.Counts[Error] > 0 || v.Counts[Invalid] > 0 {
		return InvalidRun, ExitHarness
	}
	red, host := v.Red(), true
	for _, c := range red {
		host = host && (c.Outcome == BlockedHost || c.Outcome == MootDoor)
	}
	hostRed := v.Strict && len(v.HostLacks) > 0
	switch {
	case len(red) > 0 && !host:
		return NonConformant, ExitNot
	case len(red) > 0 || hostRed:
		return NonConformant, ExitHost
	}
	result, exit := Conformant, ExitConformant
	if len(v.Profiles) == 0 || len(v.HostLacks) > 0 {
		result = Partial
	}
	for _, p := range v.Profiles {
		if p.Result != Conformant {
			result = Partial
		}
		if len(p.Unclaimed) > 0 {
			exit = ExitNot
		}
	}
	return result, exit
}
