package egress

import (
	"net/netip"
	"slices"
	"strings"
)

// Policy is an immutable set of rules. It is safe for concurrent use.
type Policy struct {
	allow, deny ruleSet
}

type ruleSet struct {
	exact map[Authority]entry
	// below holds the wildcard rules by what follows "*.".
	below map[Authority]entry
	texts []string
}

type entry struct {
	rule   string
	ranges []netip.Prefix
}

// NewPolicy makes a policy. Deny beats allow; without an allow rule everything
// is denied. Of the rules that match, the exact one, then the longest wildcard
// is named and gives the address ranges; equal rules are merged.
func NewPolicy(allow, deny []Rule) *Policy {
	return &Policy{allow: newRuleSet(allow), deny: newRuleSet(deny)}
}

// Decide judges an authority by the rules alone: no lookup, no dial, no
// allocation. The verdict is Allow or Deny.
func (p *Policy) Decide(a Authority) Decision {
	d := Decision{Authority: a, Verdict: Deny, Reason: ReasonRefused}
	if p == nil {
		return d
	}
	if e, ok := p.deny.find(a); ok {
		d.Reason, d.Rule = ReasonDenied, e.rule
		return d
	}
	if e, ok := p.allow.find(a); ok {
		d.Verdict, d.Reason, d.Rule, d.ranges = Allow, "", e.rule, e.ranges
	}
	return d
}

// Allowed lists the allow rules in canonical form, sorted, without duplicates.
func (p *Policy) Allowed() []string {
	if p == nil {
		return nil
	}
	return slices.Clone(p.allow.texts)
}

// deniesAddr applies deny rules for an IP literal to what a name resolved to.
func (p *Policy) deniesAddr(ap netip.AddrPort) bool {
	if p == nil {
		return false
	}
	_, denied := p.deny.exact[Authority{Addr: ap.Addr().Unmap(), Port: ap.Port()}]
	return denied
}

func newRuleSet(rules []Rule) ruleSet {
	s := ruleSet{exact: map[Authority]entry{}, below: map[Authority]entry{}}
	for _, r := range rules {
		if r.host.Port == 0 {
			continue // the zero Rule names nothing
		}
		m := s.exact
		if r.wildcard {
			m = s.below
		}
		e := m[r.host]
		m[r.host] = entry{rule: r.text, ranges: append(slices.Clip(e.ranges), r.ranges...)}
		s.texts = append(s.texts, r.text)
	}
	slices.Sort(s.texts)
	s.texts = slices.Compact(s.texts)
	return s
}

func (s *ruleSet) find(a Authority) (entry, bool) {
	if e, ok := s.exact[a]; ok {
		return e, true
	}
	if a.Name == "" || len(s.below) == 0 {
		return entry{}, false
	}
	// Only whole labels: the suffix begins behind a dot, and the apex, which
	// has none in front, is not below itself.
	for rest := a.Name; ; {
		i := strings.IndexByte(rest, '.')
		if i < 0 {
			return entry{}, false
		}
		rest = rest[i+1:]
		if e, ok := s.below[Authority{Name: rest, Port: a.Port}]; ok {
			return e, true
		}
	}
}
