package egress

import (
	"net/netip"
	"strings"
	"testing"

	"bridgecheck/ref/egress/internal/vectors"
)

func TestParseAuthority(t *testing.T) {
	for _, r := range vectors.Targets {
		got, err := ParseAuthority(r.In)
		switch {
		case (err != nil) != (r.Canonical == ""):
			t.Errorf("%q: error %v, want %q", r.In, err, r.Canonical)
		case got.String() != r.Canonical:
			t.Errorf("%q: %q, want %q", r.In, got, r.Canonical)
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
