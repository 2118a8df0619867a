package egress

import (
	"errors"
	"fmt"
	"net/netip"
	"strings"

	"golang.org/x/net/idna"
)

// Rule names one host and port, or every name below one, in canonical form.
type Rule struct {
	host     Authority // the suffix, for a wildcard
	wildcard bool
	ranges   []netip.Prefix
	text     string
}

// ParseRule reads a rule to allow. host is a name (U-labels are converted, IDNA
// 2008 with the mapping of UTS 46), "*." and a name for every depth below it
// but not itself, or an IP literal. addresses are the special-use ranges that
// the host may resolve into besides public addresses, for this host and port
// alone; loopback and metadata addresses have to be named one by one. A rule
// that could never match is an error that says what to write instead.
func ParseRule(host string, port int, addresses []string) (Rule, error) {
	r, err := parseRule(host, port)
	if err != nil {
		return Rule{}, fmt.Errorf("rule %s port %d: %w", quote(host), port, err)
	}
	for _, s := range addresses {
		p, err := parseRange(s)
		if err != nil {
			return Rule{}, fmt.Errorf("rule %s: address range %s: %w", r, quote(s), err)
		}
		r.ranges = append(r.ranges, p)
	}
	if err := r.reachable(); err != nil {
		return Rule{}, fmt.Errorf("rule %s: %w", r, err)
	}
	return r, nil
}

// ParseDenyRule reads a rule to deny: as [ParseRule], but any address may be
// named, since a denied one need not be reachable.
func ParseDenyRule(host string, port int) (Rule, error) {
	r, err := parseRule(host, port)
	if err != nil {
		return Rule{}, fmt.Errorf("deny rule %s port %d: %w", quote(host), port, err)
	}
	return r, nil
}

// String is the canonical form: host:port, as it stands in decisions.
func (r Rule) String() string { return r.text }

// Wildcard tells whether the rule is for the names below its host.
func (r Rule) Wildcard() bool { return r.wildcard }

// Addresses are the ranges the rule opens.
func (r Rule) Addresses() []netip.Prefix { return append([]netip.Prefix(nil), r.ranges...) }

func parseRule(host string, port int) (Rule, error) {
	if port < 1 || port > 65535 {
		return Rule{}, errors.New("the port is not between 1 and 65535: a rule names one port, as 443")
	}
	if err := checkRuleHost(host); err != nil {
		return Rule{}, err
	}
	name, wildcard := strings.CutPrefix(host, "*.")
	ascii, err := toASCII(name)
	if err != nil {
		return Rule{}, err
	}
	if a, err := netip.ParseAddr(ascii); err == nil && a.Is6() {
		ascii = "[" + ascii + "]" // in a rule host and port are apart: nothing to confuse
	}
	a, err := parseHost(ascii, uint16(port))
	if err != nil {
		return Rule{}, err
	}
	if endsInNumber(a.Name) {
		return Rule{}, errors.New("a name that ends in a number is an address to some programs and in DNS to none: write an address as four decimal numbers, as 192.0.2.1")
	}
	r := Rule{host: a, wildcard: wildcard, text: a.String()}
	if wildcard {
		if a.Addr.IsValid() {
			return Rule{}, fmt.Errorf("an address has nothing below it: write %s", a.Addr)
		}
		if len(a.Name) > maxNameLen-len("a.") {
			return Rule{}, errors.New("no name below this one would fit into 253 characters: shorten it")
		}
		r.text = "*." + r.text
	}
	return r, nil
}

// checkRuleHost catches what people write and what could never match, before
// the grammar would say something less helpful.
func checkRuleHost(host string) error {
	switch _, rest, hasScheme := strings.Cut(host, "://"); {
	case host == "":
		return errors.New("the host is empty: name one, as api.example.test")
	case hasScheme:
		return fmt.Errorf("a rule has no scheme: write %s", quote(strings.SplitN(rest, "/", 2)[0]))
	case strings.ContainsAny(host, "/?#"):
		return fmt.Errorf("a rule has no path: write %s", quote(host[:strings.IndexAny(host, "/?#")]))
	case strings.TrimSpace(host) != host:
		return fmt.Errorf("spaces around the host: write %s", quote(strings.TrimSpace(host)))
	case host == "*":
		return errors.New("a rule for every host would switch the proxy off: name the hosts, or *.example.test for those below one")
	case strings.HasPrefix(host, "."):
		return fmt.Errorf("a leading dot matches nothing: write %s", quote("*"+host))
	}
	rest := strings.TrimPrefix(host, "*.")
	if strings.Contains(rest, "*") {
		return errors.New("a wildcard stands for whole labels at the front: write *.example.test")
	}
	if _, err := netip.ParseAddr(rest); err == nil {
		return nil
	}
	if h, port, err := splitHostPort(rest); err == nil && port != "" {
		return fmt.Errorf("the port stands in the host: write host %s and port %s", quote(h), quote(port))
	}
	return nil
}

// toASCII converts U-labels. ASCII is left alone: it takes the same path as a
// request, so that both have one canonical form.
func toASCII(name string) (string, error) {
	for i := range len(name) {
		if name[i] >= 0x80 {
			a, err := idna.Lookup.ToASCII(name)
			if err != nil {
				return "", fmt.Errorf("%s is no internationalised name (IDNA 2008): write its A-label, xn--...: %w", quote(name), err)
			}
			if addr, err := netip.ParseAddr(a); err == nil {
				return "", fmt.Errorf("an address is written in ASCII: write %s", addr)
			}
			return a, nil
		}
	}
	return name, nil
}

// endsInNumber is the test by which the WHATWG URL standard (section 3.5) takes
// a host for an IPv4 address: clients of that school rewrite such a name before
// they send it, and no top-level domain is numeric (RFC 3696 section 2).
func endsInNumber(name string) bool {
	last := name[strings.LastIndexByte(name, '.')+1:]
	digits := strings.Trim(last, "0123456789") == "" || strings.HasPrefix(last, "0x") && strings.Trim(last[2:], "0123456789abcdef") == ""
	return last != "" && digits
}

func parseRange(s string) (netip.Prefix, error) {
	p, err := netip.ParsePrefix(s)
	if err != nil {
		if a, err := netip.ParseAddr(s); err == nil && a.Zone() == "" {
			return netip.Prefix{}, fmt.Errorf("the length is missing: write %s", netip.PrefixFrom(a, a.BitLen()))
		}
		return netip.Prefix{}, errors.New("not a range: write it as 10.20.0.0/16")
	}
	if p.Masked() != p {
		return netip.Prefix{}, fmt.Errorf("bits are set behind the length: write %s", p.Masked())
	}
	if p.Addr().Is4In6() {
		return netip.Prefix{}, fmt.Errorf("write the IPv4 range, as %s/%d", p.Addr().Unmap(), max(p.Bits()-96, 0))
	}
	c := Classify(p.Addr())
	switch {
	case c.Access == Never:
		return netip.Prefix{}, fmt.Errorf("%s addresses (%s) are never dialled: leave it out", c.Name, c.Source)
	case c.Access == Public:
		return netip.Prefix{}, errors.New("public addresses need no range: leave it out")
	case c.Access == ByAddress && !p.IsSingleIP():
		return netip.Prefix{}, fmt.Errorf("%s addresses are opened one by one: write %s", c.Name, netip.PrefixFrom(p.Addr(), p.Addr().BitLen()))
	case c.embed == 0 && p.Bits() < c.Prefix.Bits():
		return netip.Prefix{}, fmt.Errorf("wider than the %s range it begins with: write %s", c.Name, c.Prefix)
	}
	return p, nil
}

// reachable refuses a rule whose dial would always be refused for the address.
func (r Rule) reachable() error {
	a := r.host
	if a.Addr.IsValid() {
		if err := permits(r.ranges, a.Addr); err != nil {
			if Classify(a.Addr).Access == Never {
				return fmt.Errorf("%w, which is never dialled: remove the rule", err)
			}
			return fmt.Errorf("%w: if that is meant, add addresses: [%s]", err, netip.PrefixFrom(a.Addr, a.Addr.BitLen()))
		}
		return nil
	}
	if a.isLoopback() && len(r.ranges) == 0 {
		return errors.New("localhost is this machine; MCP servers are reached by their own names without a rule: if the machine is meant, add addresses: [127.0.0.1/32, ::1/128]")
	}
	return nil
}
