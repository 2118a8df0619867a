package program

import (
	"errors"
	"net/netip"
	"strconv"
	"strings"

	"github.com/LeGambiArt/go-arapuca/behaviour"
)

// rule is a host, or a suffix that begins with a dot and matches its apex too,
// with a port.
type rule struct {
	host string
	port uint16
}

// declared reads a rule as people write it.
func declared(text string) (rule, error) {
	r, err := raw(text)
	if err != nil {
		return r, err
	}
	r = r.normal()
	name := strings.TrimPrefix(r.host, ".")
	if name == "" || len(name) > 253 || strings.Contains(name, "..") || strings.HasPrefix(name, ".") || strings.Trim(name, hostBytes) != "" {
		return r, errors.New("the host is no name")
	}
	return r, nil
}

const hostBytes = "abcdefghijklmnopqrstuvwxyz0123456789.-"

// raw reads a rule as the library hands it over.
func raw(text string) (rule, error) {
	i := strings.LastIndexByte(text, ':')
	if i < 0 {
		return rule{}, errors.New("a port is missing: write HOST:PORT")
	}
	port, err := strconv.ParseUint(text[i+1:], 10, 16)
	if err != nil || port == 0 {
		return rule{}, errors.New("the port must be 1 to 65535")
	}
	r := rule{text[:i], uint16(port)}
	if behaviour.Has(behaviour.RulesRaw) {
		return r, nil
	}
	return r.normal(), nil
}

// normal is the spelling that is compared.
func (r rule) normal() rule {
	r.host = strings.ToLower(strings.TrimSuffix(r.host, "."))
	if rest, ok := strings.CutPrefix(r.host, "*."); ok {
		r.host = "." + rest
	}
	return r
}

func (r rule) matches(host string, port uint16) bool {
	if port != r.port {
		return false
	}
	suffix, ok := strings.CutPrefix(r.host, ".")
	return host == r.host || ok && (host == suffix || strings.HasSuffix(host, r.host))
}

// permits tells whether a connection that the rule allows may go to an address:
// a public one, or one of this host that the rule names itself.
func (r rule) permits(a netip.Addr) bool {
	a = a.Unmap()
	if public(a) {
		return true
	}
	if behaviour.Has(behaviour.LoopbackRefused) {
		return false
	}
	literal, err := netip.ParseAddr(r.host)
	return err == nil && literal == a || r.host == "localhost" && a.IsLoopback()
}

// special are ranges that no name may lead into, IANA's special-purpose
// registries; those for documentation stand for public addresses in a lab.
var special = prefixes(
	"0.0.0.0/8", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "169.254.0.0/16", "172.16.0.0/12", "192.0.0.0/24",
	"192.168.0.0/16", "198.18.0.0/15", "224.0.0.0/3", "168.63.129.16/32",
	"::/96", "::ffff:0:0:0/96", "64:ff9b::/96", "64:ff9b:1::/48", "100::/64", "2001::/23", "2002::/16", "fc00::/7", "fe80::/10", "fec0::/10", "ff00::/8",
)

func prefixes(list ...string) (all []netip.Prefix) {
	for _, text := range list {
		all = append(all, netip.MustParsePrefix(text))
	}
	return all
}

func public(a netip.Addr) bool {
	for _, p := range special {
		if p.Contains(a) {
			return false
		}
	}
	return true
}
