package egress

import (
	"fmt"
	"net/netip"
)

// Class is a kind of address by its use.
type Class struct {
	// Name is the class, as "loopback" or "private".
	Name string
	// Prefix is the range, Source the document that sets it apart.
	Prefix netip.Prefix
	Source string
	// Access says what can open an address of the class.
	Access Access
	// embed is the bit at which an IPv4 address stands inside, 0 for none.
	// That address is what a translator dials, so it is judged instead.
	embed int
}

// Access says what can open an address of a class to a dial.
type Access uint8

const (
	// Public addresses need no more than a rule for the host.
	Public Access = iota
	// ByRange addresses need a rule whose Addresses hold them.
	ByRange
	// ByAddress addresses need a rule that names them alone (/32 or /128).
	ByAddress
	// Never is for what no TCP connection of ours has business with.
	Never
)

// classes is a longest-prefix table after the IANA special-purpose address
// registries (RFC 6890) and the IPv6 address space registry: outside 2000::/3
// nothing is a global unicast address. The documentation ranges are nobody's
// inside and stay public. NAT64 prefixes that an operator chose (RFC 6052
// section 2.2) cannot be told from other addresses.
var classes = []Class{
	class("public", "0.0.0.0/0", "RFC 791", Public),
	class("this-network", "0.0.0.0/8", "RFC 791 section 3.2; Linux dials itself", Never),
	class("private", "10.0.0.0/8", "RFC 1918", ByRange),
	class("shared", "100.64.0.0/10", "RFC 6598 (carrier-grade NAT)", ByRange),
	class("metadata", "100.100.100.200/32", "Alibaba Cloud instance metadata", ByAddress),
	class("loopback", "127.0.0.0/8", "RFC 1122 section 3.2.1.3", ByAddress),
	class("metadata", "168.63.129.16/32", "Azure platform services", ByAddress),
	class("link-local", "169.254.0.0/16", "RFC 3927", ByRange),
	class("metadata", "169.254.169.254/32", "instance metadata of most clouds", ByAddress),
	class("metadata", "169.254.169.253/32", "Amazon VPC resolver", ByAddress),
	class("metadata", "169.254.170.2/32", "Amazon ECS task credentials", ByAddress),
	class("metadata", "169.254.170.23/32", "Amazon EKS pod credentials", ByAddress),
	class("private", "172.16.0.0/12", "RFC 1918", ByRange),
	class("protocol-assignments", "192.0.0.0/24", "RFC 6890 section 2.1", ByRange),
	class("metadata", "192.0.0.192/32", "Oracle Cloud instance metadata", ByAddress),
	class("documentation", "192.0.2.0/24", "RFC 5737", Public),
	class("6to4-relay", "192.88.99.0/24", "RFC 7526", ByRange),
	class("private", "192.168.0.0/16", "RFC 1918", ByRange),
	class("benchmark", "198.18.0.0/15", "RFC 2544", ByRange),
	class("documentation", "198.51.100.0/24", "RFC 5737", Public),
	class("documentation", "203.0.113.0/24", "RFC 5737", Public),
	class("multicast", "224.0.0.0/4", "RFC 5771", Never),
	class("reserved", "240.0.0.0/4", "RFC 1112 section 4", Never),
	class("broadcast", "255.255.255.255/32", "RFC 919", Never),

	class("unallocated", "::/0", "RFC 4291 section 2.4", Never),
	class("public", "2000::/3", "RFC 4291 section 2.4", Public),
	class("v4-compatible", "::/96", "RFC 4291 section 2.5.5.1", Never),
	class("unspecified", "::/128", "RFC 4291 section 2.5.2; Linux dials itself", Never),
	class("loopback", "::1/128", "RFC 4291 section 2.5.3", ByAddress),
	embedding("v4-mapped", "::ffff:0:0/96", "RFC 4291 section 2.5.5.2", 96),
	class("v4-translated", "::ffff:0:0:0/96", "RFC 2765 section 2.1", Never),
	embedding("nat64", "64:ff9b::/96", "RFC 6052 section 2.1", 96),
	class("nat64-local", "64:ff9b:1::/48", "RFC 8215", Never),
	class("discard", "100::/64", "RFC 6666", Never),
	class("dummy", "100:0:0:1::/64", "RFC 9780", Never),
	class("protocol-assignments", "2001::/23", "RFC 2928", Never),
	class("teredo", "2001::/32", "RFC 4380", Never),
	class("benchmark", "2001:2::/48", "RFC 5180", ByRange),
	class("documentation", "2001:db8::/32", "RFC 3849", Public),
	embedding("6to4", "2002::/16", "RFC 3056 section 2", 16),
	class("documentation", "3fff::/20", "RFC 9637", Public),
	class("segment-routing", "5f00::/16", "RFC 9602", Never),
	class("unique-local", "fc00::/7", "RFC 4193", ByRange),
	class("metadata", "fd00:ec2::254/128", "Amazon EC2 instance metadata", ByAddress),
	class("metadata", "fd00:ec2::253/128", "Amazon VPC resolver", ByAddress),
	class("metadata", "fd00:ec2::23/128", "Amazon EKS pod credentials", ByAddress),
	class("metadata", "fd20:ce::254/128", "Google Cloud instance metadata", ByAddress),
	class("link-local", "fe80::/10", "RFC 4291 section 2.5.6", Never),
	class("site-local", "fec0::/10", "RFC 3879", ByRange),
	class("multicast", "ff00::/8", "RFC 4291 section 2.7", Never),
}

func class(name, prefix, source string, access Access) Class {
	return Class{Name: name, Prefix: netip.MustParsePrefix(prefix), Source: source, Access: access}
}

func embedding(name, prefix, source string, bit int) Class {
	c := class(name, prefix, source, Public)
	c.embed = bit
	return c
}

// Classes returns the table, for documentation and tests.
func Classes() []Class { return append([]Class(nil), classes...) }

// Classify finds the class of an address by its longest prefix. An address
// that carries an IPv4 address has that one's class, with both names
// ("nat64 private"), unless its own class is closed already. A zone makes any
// address link-local in effect and is closed.
func Classify(a netip.Addr) Class {
	var best Class
	if !a.IsValid() || a.Zone() != "" {
		return Class{Name: "invalid", Source: "RFC 4007 section 11", Access: Never}
	}
	for _, c := range classes {
		if c.Prefix.Contains(a) && (!best.Prefix.IsValid() || c.Prefix.Bits() > best.Prefix.Bits()) {
			best = c
		}
	}
	if best.embed == 0 {
		return best
	}
	inner := Classify(embedded(a, best.embed))
	if inner.Access == Public {
		return best
	}
	inner.Name = best.Name + " " + inner.Name
	if best.Name != "v4-mapped" && inner.Access != Never {
		// Opening 10.0.0.0/8 must not open the road to it by a translator.
		inner.Access = ByAddress
	}
	return inner
}

func embedded(a netip.Addr, bit int) netip.Addr {
	b := a.As16()
	return netip.AddrFrom4([4]byte(b[bit/8 : bit/8+4]))
}

// permits tells whether a dial to a may go on: its class is public, or ranges
// open it as the class demands.
func permits(ranges []netip.Prefix, a netip.Addr) error {
	c := Classify(a)
	a = a.Unmap()
	switch c.Access {
	case Public:
		return nil
	case ByRange, ByAddress:
		for _, r := range ranges {
			if r.Contains(a) && (c.Access == ByRange || r.IsSingleIP()) {
				return nil
			}
		}
	}
	return fmt.Errorf("%s is a %s address (%s)", a, c.Name, c.Source)
}
