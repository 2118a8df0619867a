package egress

import (
	"net/netip"
	"strings"
	"testing"
)

func TestParseAuthority(t *testing.T) {
	long := strings.Repeat("a.", 126) + "a" // 253
	rows := []struct{ in, want string }{    // want "" is an error
		{"example.test:443", "example.test:443"},
		{"EXAMPLE.Test:443", "example.test:443"},
		{"example.test.:443", "example.test:443"},
		{"example.test..:443", ""},
		{".example.test:443", ""},
		{"a..b:443", ""},
		{":443", ""},
		{".:443", ""},
		{"", ""},
		{long + ":1", long + ":1"},
		{long + ".:1", long + ":1"},
		{long + "a:1", ""},
		{strings.Repeat("a", 63) + ":1", strings.Repeat("a", 63) + ":1"},
		{strings.Repeat("a", 64) + ":1", ""},
		{"-a.test:1", ""},
		{"a-.test:1", ""},
		{"a-b.test:1", "a-b.test:1"},
		{"a_b.test:1", ""},
		{"bücher.test:1", ""},
		{"xn--bcher-kva.test:1", "xn--bcher-kva.test:1"},
		{"a%62.test:1", ""},
		{"a b.test:1", ""},
		{"*.example.test:1", ""},
		{"localhost:1", "localhost:1"},

		{"example.test", ""},
		{"example.test:", ""},
		{"example.test:0", ""},
		{"example.test:1", "example.test:1"},
		{"example.test:65535", "example.test:65535"},
		{"example.test:65536", ""},
		{"example.test:99999999999999999999", ""},
		{"example.test:+443", ""},
		{"example.test:-1", ""},
		{"example.test:0443", ""},
		{"example.test: 443", ""},
		{"example.test:443 ", ""},
		{"example.test:https", ""},
		{"example.test:0x1bb", ""},
		{"example.test:4_43", ""},
		{"example.test:443:443", ""},
		{"example.test:443/", ""},
		{"example.test:443?x", ""},
		{"example.test:443#x", ""},
		{"user@example.test:443", ""},
		{"user:pw@example.test:443", ""},
		{"http://example.test:443", ""},
		{`example.test\:443`, ""},

		{"192.0.2.1:80", "192.0.2.1:80"},
		{"192.0.2.1.:80", ""},
		{"192.0.2.01:80", "192.0.2.01:80"}, // a name
		{"0177.0.0.1:80", "0177.0.0.1:80"},
		{"0x7f000001:80", "0x7f000001:80"},
		{"2130706433:80", "2130706433:80"},
		{"127.1:80", "127.1:80"},
		{"256.0.0.1:80", "256.0.0.1:80"},
		{"[192.0.2.1]:80", ""},

		{"[2001:db8::1]:80", "[2001:db8::1]:80"},
		{"[2001:DB8:0:0::0001]:80", "[2001:db8::1]:80"},
		{"[::ffff:192.0.2.1]:80", "192.0.2.1:80"},
		{"[::ffff:c000:201]:80", "192.0.2.1:80"},
		{"[::1]:80", "[::1]:80"},
		{"[::1]", ""},
		{"[::1]:", ""},
		{"[::1]80", ""},
		{"[::1", ""},
		{"::1", ""},
		{"::1:80", ""},
		{"2001:db8::1:80", ""},
		{"[fe80::1%eth0]:80", ""},
		{"[fe80::1%25eth0]:80", ""},
		{"[example.test]:80", ""},
		{"[]:80", ""},
		{"[[::1]]:80", ""},
		{"[v1.x]:80", ""},
		{"[:::1]:80", ""},
		{"a[::1]:80", ""},
	}
	for _, r := range rows {
		got, err := ParseAuthority(r.in)
		switch {
		case (err != nil) != (r.want == ""):
			t.Errorf("%q: error %v, want %q", r.in, err, r.want)
		case got.String() != r.want:
			t.Errorf("%q: %q, want %q", r.in, got, r.want)
		}
	}
}

func FuzzParseAuthority(f *testing.F) {
	for _, s := range []string{
		"example.test:443", "API.EXAMPLE.COM:443", "api.example.com.:443", "api.example.com..:443",
		"[allowed.example]:443", "h:notaport", "h", "::1", "[::1%25lo]:1", "[::ffff:127.0.0.1]:80",
		"0177.0.0.1:80", "0x7f000001:80", "127.1:80", "chase.com.attacker.com:443", "127.0.0.1.:80",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		a, err := ParseAuthority(s)
		if err != nil {
			if a != (Authority{}) {
				t.Fatalf("%q: value with an error", s)
			}
			return
		}
		checkCanonical(t, a)
		again, err := ParseAuthority(a.String())
		if err != nil || again != a {
			t.Fatalf("%q: canonical form %q reads as %v, %v", s, a, again, err)
		}
	})
}

// checkCanonical holds what everything else relies on.
func checkCanonical(t *testing.T, a Authority) {
	t.Helper()
	if a.Port == 0 || (a.Name == "") == !a.Addr.IsValid() {
		t.Fatalf("%#v: not exactly one of name and address, with a port", a)
	}
	if a.Addr.IsValid() {
		if a.Addr.Zone() != "" || a.Addr.Is4In6() {
			t.Fatalf("%#v: zone or mapped address", a)
		}
		return
	}
	if _, err := netip.ParseAddr(a.Name); err == nil {
		t.Fatalf("%q is an address taken for a name", a.Name)
	}
	if strings.ToLower(a.Name) != a.Name || strings.HasSuffix(a.Name, ".") || strings.ContainsAny(a.Name, ":/@[]%*_ ") {
		t.Fatalf("%q is not canonical", a.Name)
	}
}
