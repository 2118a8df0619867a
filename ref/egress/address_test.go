package egress

import (
	"net/netip"
	"strings"
	"testing"
)

// Pairs of rows stand just inside and just outside each edge.
func TestClassify(t *testing.T) {
	rows := []struct {
		addr, class string
		access      Access
	}{
		{"0.0.0.0", "this-network", Never},
		{"0.255.255.255", "this-network", Never},
		{"1.0.0.0", "public", Public},
		{"9.255.255.255", "public", Public},
		{"10.0.0.0", "private", ByRange},
		{"10.255.255.255", "private", ByRange},
		{"11.0.0.0", "public", Public},
		{"100.63.255.255", "public", Public},
		{"100.64.0.0", "shared", ByRange},
		{"100.100.100.199", "shared", ByRange},
		{"100.100.100.200", "metadata", ByAddress},
		{"100.127.255.255", "shared", ByRange},
		{"100.128.0.0", "public", Public},
		{"126.255.255.255", "public", Public},
		{"127.0.0.0", "loopback", ByAddress},
		{"127.0.0.1", "loopback", ByAddress},
		{"127.255.255.255", "loopback", ByAddress},
		{"128.0.0.0", "public", Public},
		{"168.63.129.15", "public", Public},
		{"168.63.129.16", "metadata", ByAddress},
		{"169.253.255.255", "public", Public},
		{"169.254.0.0", "link-local", ByRange},
		{"169.254.169.253", "metadata", ByAddress},
		{"169.254.169.254", "metadata", ByAddress},
		{"169.254.169.255", "link-local", ByRange},
		{"169.254.170.2", "metadata", ByAddress},
		{"169.255.0.0", "public", Public},
		{"172.15.255.255", "public", Public},
		{"172.16.0.0", "private", ByRange},
		{"172.31.255.255", "private", ByRange},
		{"172.32.0.0", "public", Public},
		{"192.0.0.0", "protocol-assignments", ByRange},
		{"192.0.0.192", "metadata", ByAddress},
		{"192.0.1.0", "public", Public},
		{"192.0.2.1", "documentation", Public},
		{"192.88.98.255", "public", Public},
		{"192.88.99.1", "6to4-relay", ByRange},
		{"192.88.100.0", "public", Public},
		{"192.167.255.255", "public", Public},
		{"192.168.0.0", "private", ByRange},
		{"192.168.255.255", "private", ByRange},
		{"192.169.0.0", "public", Public},
		{"198.17.255.255", "public", Public},
		{"198.18.0.0", "benchmark", ByRange},
		{"198.19.255.255", "benchmark", ByRange},
		{"198.20.0.0", "public", Public},
		{"198.51.100.1", "documentation", Public},
		{"203.0.113.1", "documentation", Public},
		{"223.255.255.255", "public", Public},
		{"224.0.0.0", "multicast", Never},
		{"239.255.255.255", "multicast", Never},
		{"240.0.0.0", "reserved", Never},
		{"255.255.255.254", "reserved", Never},
		{"255.255.255.255", "broadcast", Never},

		{"::", "unspecified", Never},
		{"::1", "loopback", ByAddress},
		{"::2", "v4-compatible", Never},
		{"::127.0.0.1", "v4-compatible", Never},
		{"::ffff:127.0.0.1", "v4-mapped loopback", ByAddress},
		{"::ffff:10.0.0.1", "v4-mapped private", ByRange},
		{"::ffff:169.254.169.254", "v4-mapped metadata", ByAddress},
		{"::ffff:192.0.2.1", "v4-mapped", Public},
		{"::ffff:0:127.0.0.1", "v4-translated", Never},
		{"::ffff:0:192.0.2.1", "v4-translated", Never},
		{"64:ff9b::10.0.0.1", "nat64 private", ByAddress},
		{"64:ff9b::127.0.0.1", "nat64 loopback", ByAddress},
		{"64:ff9b::169.254.169.254", "nat64 metadata", ByAddress},
		{"64:ff9b::192.0.2.1", "nat64", Public},
		{"64:ff9b::1:0:0", "unallocated", Never},
		{"64:ff9b:1::1", "nat64-local", Never},
		{"100::1", "discard", Never},
		{"1fff:ffff::", "unallocated", Never},
		{"2000::", "public", Public},
		{"2001::1", "teredo", Never},
		{"2001:0:ffff::", "teredo", Never},
		{"2001:1::", "protocol-assignments", Never},
		{"2001:2::", "benchmark", ByRange},
		{"2001:2:1::", "protocol-assignments", Never},
		{"2001:1ff:ffff::", "protocol-assignments", Never},
		{"2001:200::", "public", Public},
		{"2001:db8::1", "documentation", Public},
		{"2001:db9::1", "public", Public},
		{"2001:ffff::", "public", Public},
		{"2002:a00:1::", "6to4 private", ByAddress},
		{"2002:7f00:1::", "6to4 loopback", ByAddress},
		{"2002:c000:201::", "6to4", Public},
		{"2003::", "public", Public},
		{"3fff:fff::", "documentation", Public},
		{"3fff:1000::", "public", Public},
		{"3fff:ffff:ffff::", "public", Public},
		{"4000::", "unallocated", Never},
		{"5f00::1", "segment-routing", Never},
		{"fbff:ffff::", "unallocated", Never},
		{"fc00::", "unique-local", ByRange},
		{"fd00:ec2::253", "metadata", ByAddress},
		{"fd00:ec2::254", "metadata", ByAddress},
		{"fd00:ec2::255", "unique-local", ByRange},
		{"fdff:ffff::", "unique-local", ByRange},
		{"fe00::", "unallocated", Never},
		{"fe7f:ffff::", "unallocated", Never},
		{"fe80::1", "link-local", Never},
		{"febf:ffff::", "link-local", Never},
		{"fec0::", "site-local", ByRange},
		{"feff:ffff::", "site-local", ByRange},
		{"ff00::", "multicast", Never},
		{"ff02::1", "multicast", Never},
		{"fe80::1%lo", "invalid", Never},
	}
	tried := map[string]bool{}
	for _, r := range rows {
		c := Classify(netip.MustParseAddr(r.addr))
		if c.Name != r.class || c.Access != r.access {
			t.Errorf("%s: %s %d, want %s %d", r.addr, c.Name, c.Access, r.class, r.access)
		}
		for name := range strings.FieldsSeq(c.Name) {
			tried[name] = true
		}
	}
	for _, c := range Classes() {
		if !tried[c.Name] && c.Name != "dummy" {
			t.Errorf("class %s has no row", c.Name)
		}
		if c.Source == "" || c.Prefix.Masked() != c.Prefix {
			t.Errorf("class %s %s: no source, or bits behind the length", c.Name, c.Prefix)
		}
	}
}

func TestPermits(t *testing.T) {
	prefixes := func(list ...string) (out []netip.Prefix) {
		for _, s := range list {
			out = append(out, netip.MustParsePrefix(s))
		}
		return out
	}
	rows := []struct {
		ranges []netip.Prefix
		addr   string
		ok     bool
	}{
		{nil, "203.0.113.1", true},
		{nil, "10.20.0.1", false},
		{prefixes("10.20.0.0/16"), "10.20.0.1", true},
		{prefixes("10.20.0.0/16"), "::ffff:10.20.0.1", true},
		{prefixes("10.20.0.0/16"), "10.21.0.1", false},
		{prefixes("10.20.0.0/16"), "64:ff9b::10.20.0.1", false},
		{prefixes("64:ff9b::a14:1/128"), "64:ff9b::10.20.0.1", true},
		{prefixes("127.0.0.0/8"), "127.0.0.1", false},
		{prefixes("127.0.0.1/32"), "127.0.0.1", true},
		{prefixes("127.0.0.1/32"), "127.0.0.2", false},
		{prefixes("127.0.0.1/32"), "::1", false},
		{prefixes("169.254.0.0/16"), "169.254.1.1", true},
		{prefixes("169.254.0.0/16"), "169.254.169.254", false},
		{prefixes("169.254.169.254/32"), "169.254.169.254", true},
		{prefixes("fd00::/8"), "fd00:ec2::254", false},
		{prefixes("0.0.0.0/0", "0.0.0.0/32"), "0.0.0.0", false},
		{prefixes("::/0", "::/128"), "::", false},
	}
	for _, r := range rows {
		if err := permits(r.ranges, netip.MustParseAddr(r.addr)); (err == nil) != r.ok {
			t.Errorf("%s with %v: %v", r.addr, r.ranges, err)
		}
	}
}

func FuzzClassify(f *testing.F) {
	for _, s := range []string{"127.0.0.1", "::ffff:7f00:1", "64:ff9b::7f00:1", "2002:7f00:1::", "2001:0:7f00:1::", "::7f00:1", "::ffff:0:7f00:1", "100.64.0.1", "fd00::1"} {
		b := netip.MustParseAddr(s).As16()
		f.Add(b[:])
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		a, ok := netip.AddrFromSlice(b)
		if !ok {
			return
		}
		c := Classify(a)
		if c.Name == "" || c.Source == "" {
			t.Fatalf("%s has no class", a)
		}
		if c.Access != Public {
			if permits(nil, a) == nil {
				t.Fatalf("%s is %s and open", a, c.Name)
			}
			return
		}
		// The standard library's view of what is no one else's, as a second opinion.
		u := a.Unmap()
		if u.IsLoopback() || u.IsPrivate() || u.IsUnspecified() || u.IsMulticast() || u.IsLinkLocalUnicast() || !u.IsGlobalUnicast() {
			t.Fatalf("%s is open", a)
		}
		if u.Is6() {
			raw := u.As16()
			for _, at := range []int{2, 12} { // 6to4 and NAT64
				inner := netip.AddrFrom4([4]byte(raw[at : at+4]))
				known := at == 2 && raw[0] == 0x20 && raw[1] == 2 || at == 12 && netip.MustParsePrefix("64:ff9b::/96").Contains(u)
				if known && (inner.IsLoopback() || inner.IsPrivate() || inner.IsLinkLocalUnicast()) {
					t.Fatalf("%s carries %s and is open", a, inner)
				}
			}
		}
	})
}
