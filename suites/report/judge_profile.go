package report

import (
	"slices"

	"bridgecheck/suites/catalog"
)

// judgeProfile makes a result of the profile's frozen ids. Other checks are
// shown in the report and do not score.
func (j *judge) judgeProfile(p Profile, v Verdict) ProfileVerdict {
	pv := ProfileVerdict{Name: p.Name, Why: p.Why, Required: len(p.Required), Counts: Counts{}, Result: Conformant}
	lower := func(to Standing, because string) {
		if order(to) > order(pv.Result) {
			pv.Result = to
		}
		pv.Because = append(pv.Because, because)
	}
	d := j.described()
	for _, core := range p.Core {
		if !d.Claims(core) {
			pv.Unclaimed = append(pv.Unclaimed, core)
			lower(Partial, "core capability "+string(core)+" is not claimed")
		}
	}
	ran := false
	for _, id := range p.Required {
		c, ok := v.Case(id)
		if !ok {
			j.problem("profile %s: requires %s, and there is no such check", p.Name, id)
			c.Outcome = Invalid
		}
		pv.Counts.add(c.Outcome)
		standing := standingOf(c, j.opts.SubjectIsOurs)
		if standing != Conformant {
			lower(standing, id+" "+string(c.Outcome))
		}
		ran = ran || c.Outcome != NA && c.Outcome != MootDoor && c.Outcome != NotSelected
	}
	if !ran && len(pv.Unclaimed) == 0 {
		lower(InvalidRun, "none of its checks ran")
	}
	return pv
}

// applies tells whether at least one check of the profile is about the subject.
func applies(p Profile, v Verdict) bool {
	return slices.ContainsFunc(p.Required, func(id string) bool {
		c, ok := v.Case(id)
		return !ok || c.Outcome != NA
	})
}

// standingOf is the best a profile can be with one such required check.
func standingOf(c CaseVerdict, ours bool) Standing {
	switch c.Outcome {
	case Pass, Mended, NA:
		return Conformant
	case MootDoor:
		if !c.Red {
			return Conformant
		}
		return NonConformant
	case BlockedHost:
		if !c.Red {
			return Partial
		}
		return NonConformant
	case ExpectedFail:
		return Partial
	case Stale:
		return NonConformant
	case Fail:
		if c.Level == catalog.House && !ours {
			return Conformant
		}
		return NonConformant
	}
	return InvalidRun // not selected, error, invalid
}

func order(s Standing) int {
	switch s {
	case Conformant:
		return 0
	case Partial:
		return 1
	case NonConformant:
		return 2
	}
	return 3
}
