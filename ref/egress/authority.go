package egress

import (
	"errors"
	"fmt"
	"net/netip"
	"strconv"
	"strings"
)

// Authority is the one canonical form of a host and port. Rules, requests and
// the dial all use it, so what is judged is what is dialled. It is comparable.
// Exactly one of Name and Addr is set in a valid Authority.
type Authority struct {
	// Name is a host name of A-labels: lower case, no trailing dot.
	Name string
	// Addr is an IP address without a zone; IPv4-mapped IPv6 is unmapped,
	// since that is what the kernel dials.
	Addr netip.Addr
	// Port is 1 to 65535.
	Port uint16
}

// ParseAuthority reads the authority form of a CONNECT target: uri-host ":"
// port (RFC 9110 section 7.2, RFC 3986 section 3.2.2 without userinfo). It
// never repairs and has no default port. Names compare without regard to case
// and to one trailing dot (RFC 1034 section 3.1), which the result drops.
func ParseAuthority(s string) (Authority, error) {
	host, port, err := splitHostPort(s)
	if err != nil {
		return Authority{}, err
	}
	if port == "" {
		return Authority{}, errors.New("the port is missing: write host:port")
	}
	p, err := ParsePort(port)
	if err != nil {
		return Authority{}, err
	}
	return parseHost(host, p)
}

// ParsePort reads a port number, 1 to 65535, in decimal digits without a sign,
// space or leading zero.
func ParsePort(s string) (uint16, error) {
	n, err := strconv.ParseUint(s, 10, 16) // takes no sign, no space, no underscore in base 10
	if err != nil || n == 0 || s[0] == '0' {
		return 0, fmt.Errorf("port %s is not a number from 1 to 65535: write it in plain digits, as 443", quote(s))
	}
	return uint16(n), nil
}

// String is the authority as it stands in a CONNECT request: name:port,
// 192.0.2.1:port or [2001:db8::1]:port; empty for the zero value.
func (a Authority) String() string {
	if a == (Authority{}) {
		return ""
	}
	if a.Addr.IsValid() {
		return netip.AddrPortFrom(a.Addr, a.Port).String()
	}
	return a.Name + ":" + strconv.Itoa(int(a.Port))
}

// Host is the name or the address, an IPv6 address without brackets.
func (a Authority) Host() string {
	if a.Addr.IsValid() {
		return a.Addr.String()
	}
	return a.Name
}

// isLoopback tells whether the authority can only mean the machine itself:
// a loopback address, or a name of RFC 6761 section 6.3.
func (a Authority) isLoopback() bool {
	if a.Addr.IsValid() {
		return a.Addr.IsLoopback() || a.Addr.IsUnspecified()
	}
	return a.Name == "localhost" || strings.HasSuffix(a.Name, ".localhost")
}

// splitHostPort cuts at the colon that the grammar gives: the one after the
// closing bracket, or the only one. The host keeps its brackets.
func splitHostPort(s string) (host, port string, err error) {
	if strings.Contains(s, "@") {
		return "", "", errors.New("userinfo (user@) is not part of a target: leave it out")
	}
	if i := strings.IndexAny(s, "/?#\\"); i >= 0 {
		return "", "", fmt.Errorf("%q cannot stand in an authority: write host:port alone", s[i])
	}
	rest := s
	if strings.HasPrefix(s, "[") {
		end := strings.IndexByte(s, ']')
		if end < 0 {
			return "", "", errors.New("the closing bracket is missing: write [2001:db8::1]:443")
		}
		host, rest = s[:end+1], s[end+1:]
		if rest != "" && rest[0] != ':' {
			return "", "", errors.New("only a port can follow the bracket: write [2001:db8::1]:443")
		}
	} else if strings.Count(s, ":") > 1 {
		return "", "", errors.New("more than one colon outside brackets: write an IPv6 address as [2001:db8::1]:443")
	}
	before, after, found := strings.Cut(rest, ":")
	if host == "" {
		host = before
	}
	if found && after == "" {
		return "", "", errors.New("the port is empty: write host:port")
	}
	return host, after, nil
}

// parseHost makes the canonical form of an uri-host. Only a strict dotted quad
// and, in brackets, the forms of RFC 4291 section 2.2 are addresses; anything
// else is a name.
func parseHost(host string, port uint16) (Authority, error) {
	if strings.HasPrefix(host, "[") {
		return parseIPv6(strings.TrimSuffix(host[1:], "]"), port)
	}
	if a, err := netip.ParseAddr(host); err == nil {
		if a.Is6() {
			return Authority{}, fmt.Errorf("an IPv6 address needs brackets: write [%s]", a)
		}
		return Authority{Addr: a, Port: port}, nil
	}
	name, err := canonicalName(host)
	if err != nil {
		return Authority{}, err
	}
	// 192.0.2.1. would be an address to some and a name to others.
	if a, err := netip.ParseAddr(name); err == nil {
		return Authority{}, fmt.Errorf("an address has no trailing dot: write %s", a)
	}
	return Authority{Name: name, Port: port}, nil
}

func parseIPv6(s string, port uint16) (Authority, error) {
	a, err := netip.ParseAddr(s)
	switch {
	case err != nil || a.Is4():
		return Authority{}, fmt.Errorf("%s is not an IPv6 address: brackets hold nothing else", quote(s))
	case a.Zone() != "":
		return Authority{}, fmt.Errorf("a zone (%s) has no meaning to another host: leave it out", quote("%"+a.Zone()))
	}
	return Authority{Addr: a.Unmap(), Port: port}, nil
}

// canonicalName lower-cases a host name of RFC 1123 section 2.1 and drops one
// trailing dot.
func canonicalName(s string) (string, error) {
	name := strings.TrimSuffix(s, ".")
	if name == "" {
		return "", errors.New("the host is empty")
	}
	// 253 is 255 octets on the wire less the first length and the root label.
	if len(name) > maxNameLen {
		return "", fmt.Errorf("the name has %d characters: 253 is the most that DNS can carry", len(name))
	}
	for label := range strings.SplitSeq(name, ".") {
		if err := checkLabel(label); err != nil {
			return "", fmt.Errorf("%w in %s", err, quote(s))
		}
	}
	return strings.ToLower(name), nil
}

const maxNameLen = 253

func checkLabel(label string) error {
	switch {
	case label == "":
		return errors.New("empty label")
	case len(label) > 63:
		return errors.New("label of more than 63 characters")
	case label[0] == '-' || label[len(label)-1] == '-':
		return errors.New("label that begins or ends with a hyphen")
	}
	for _, c := range []byte(label) {
		switch {
		case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9', c == '-':
		case c == '_':
			return errors.New("underscore (host names have letters, digits and hyphens)")
		case c >= 0x80:
			return errors.New("character outside ASCII (send the A-label, xn--...)")
		default:
			return fmt.Errorf("character %q that no host name has", c)
		}
	}
	return nil
}

// quoteTarget is quote without what can be a secret: userinfo and query.
func quoteTarget(s string) string {
	s, _, found := strings.Cut(s, "?")
	if found {
		s += "?..."
	}
	if at := strings.LastIndexByte(s, '@'); at >= 0 {
		from := strings.LastIndexAny(s[:at], "/ ") + 1
		s = s[:from] + "..." + s[at:]
	}
	return quote(s)
}

// quote shows untrusted text: ASCII only, escaped, cut to a readable length.
func quote(s string) string {
	const most = 80
	if len(s) > most {
		return strconv.QuoteToASCII(s[:most]) + "..."
	}
	return strconv.QuoteToASCII(s)
}
