package dns

import (
	"net/netip"

	"golang.org/x/net/dns/dnsmessage"
)

// Answer is what one query for a name gets; see the functions that make one.
type Answer struct {
	addresses []netip.Addr
	alias     string
	code      dnsmessage.RCode
	silent    bool
}

// Addresses answers A queries with the IPv4 addresses and AAAA queries with the
// IPv6 ones; without one of the kind asked for, the answer is empty (NODATA).
// It panics on what is no address: names are literals of the checks.
func Addresses(addresses ...string) Answer {
	var a Answer
	for _, text := range addresses {
		a.addresses = append(a.addresses, netip.MustParseAddr(text))
	}
	return a
}

// CNAME answers with the canonical name and with what that name resolves to.
func CNAME(name string) Answer { return Answer{alias: name} }

// ServFail answers SERVFAIL.
func ServFail() Answer { return Answer{code: dnsmessage.RCodeServerFailure} }

// NXDomain answers that there is no such name, as for every name not set.
func NXDomain() Answer { return Answer{code: dnsmessage.RCodeNameError} }

// Silence never answers.
func Silence() Answer { return Answer{silent: true} }

// script is the answers of one name, and how far they have been given.
type script struct {
	answers []Answer
	next    map[dnsmessage.Type]int
}

// take is the answer for the next query of the type: the answers in turn, then
// the last one for good. Each type counts for itself, since a resolver asks for
// A and AAAA in any order and both belong to one lookup.
func (s *script) take(kind dnsmessage.Type) Answer {
	i := s.next[kind]
	if i < len(s.answers)-1 {
		s.next[kind]++
	}
	return s.answers[i]
}
