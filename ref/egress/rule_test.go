package egress

import (
	"strings"
	"testing"
)

func TestParseRule(t *testing.T) {
	rows := []struct {
		host string
		port int
		addr []string
		want string // canonical form
		hint string // part of the error, if it is one
	}{
		{host: "api.example.test", port: 443, want: "api.example.test:443"},
		{host: "API.Example.Test.", port: 443, want: "api.example.test:443"},
		{host: "*.example.test", port: 443, want: "*.example.test:443"},
		{host: "*.Example.test.", port: 443, want: "*.example.test:443"},
		{host: "bücher.test", port: 443, want: "xn--bcher-kva.test:443"},
		{host: "BÜCHER.test", port: 443, want: "xn--bcher-kva.test:443"},
		{host: "*.bücher.test", port: 443, want: "*.xn--bcher-kva.test:443"},
		{host: "xn--bcher-kva.test", port: 443, want: "xn--bcher-kva.test:443"},
		{host: "192.0.2.1", port: 80, want: "192.0.2.1:80"},
		{host: "2001:db8::1", port: 80, want: "[2001:db8::1]:80"},
		{host: "[2001:db8::1]", port: 80, want: "[2001:db8::1]:80"},
		{host: "::ffff:192.0.2.1", port: 80, want: "192.0.2.1:80"},
		{host: "127.1", port: 80, hint: "four decimal numbers"},
		{host: "0177.0.0.1", port: 80, hint: "four decimal numbers"},
		{host: "0x7f000001", port: 80, hint: "four decimal numbers"},
		{host: "a.0x", port: 80, hint: "four decimal numbers"},
		{host: "2130706433", port: 80, hint: "four decimal numbers"},
		{host: "*.0.0.1", port: 80, hint: "four decimal numbers"},
		{host: "1.a1", port: 80, want: "1.a1:80"},
		{host: "0xfg", port: 80, want: "0xfg:80"},

		{host: "", port: 1, hint: "the host is empty"},
		{host: "https://api.example.test/x", port: 443, hint: `write "api.example.test"`},
		{host: "api.example.test:443", port: 443, hint: `write host "api.example.test" and port`},
		{host: "[2001:db8::1]:443", port: 443, hint: "the port stands in the host"},
		{host: "api.example.test/path", port: 443, hint: `no path: write "api.example.test"`},
		{host: " api.example.test", port: 443, hint: "spaces"},
		{host: "*", port: 443, hint: "name the hosts"},
		{host: "*.", port: 443, hint: "empty"},
		{host: "*example.test", port: 443, hint: "write *.example.test"},
		{host: "a.*.example.test", port: 443, hint: "write *.example.test"},
		{host: "*.*.example.test", port: 443, hint: "write *.example.test"},
		{host: ".example.test", port: 443, hint: `write "*.example.test"`},
		{host: "a_b.test", port: 443, hint: "underscore"},
		{host: "a..b", port: 443, hint: "empty label"},
		{host: "example.test..", port: 443, hint: "empty label"},
		{host: strings.Repeat("a.", 126) + "ab", port: 443, hint: "253"},
		{host: strings.Repeat("a", 64) + ".test", port: 443, hint: "63"},
		{host: "*." + strings.Repeat("a.", 125) + "aa", port: 443, hint: "253"}, // 252 below which nothing fits
		{host: "*." + strings.Repeat("a.", 125) + "a", port: 443, want: "*." + strings.Repeat("a.", 125) + "a:443"},
		{host: "*.192.0.2.1", port: 443, hint: "nothing below"},
		{host: "１９２.0.2.1", port: 443, hint: "write 192.0.2.1"},
		{host: "xn--bücher.test", port: 443, hint: "IDNA"},
		{host: "api.example.test", port: 0, hint: "1 and 65535"},
		{host: "api.example.test", port: 65536, hint: "1 and 65535"},
		{host: "api.example.test", port: -1, hint: "1 and 65535"},
		{host: "api.example.test", port: 65535, want: "api.example.test:65535"},
		{host: "fe80::1%eth0", port: 80, hint: "zone"},

		{host: "lan.test", port: 80, addr: []string{"10.20.0.0/16"}, want: "lan.test:80"},
		{host: "lan.test", port: 80, addr: []string{"127.0.0.1/32", "::1/128", "169.254.169.254/32"}, want: "lan.test:80"},
		{host: "lan.test", port: 80, addr: []string{"fd00::/8"}, want: "lan.test:80"},
		{host: "lan.test", port: 80, addr: []string{"10.20.0.1/16"}, hint: "write 10.20.0.0/16"},
		{host: "lan.test", port: 80, addr: []string{"10.20.0.1"}, hint: "write 10.20.0.1/32"},
		{host: "lan.test", port: 80, addr: []string{"127.0.0.0/8"}, hint: "one by one"},
		{host: "lan.test", port: 80, addr: []string{"10.0.0.0/7"}, hint: "write 10.0.0.0/8"},
		{host: "lan.test", port: 80, addr: []string{"0.0.0.0/0"}, hint: "never dialled"},
		{host: "lan.test", port: 80, addr: []string{"::/0"}, hint: "never dialled"},
		{host: "lan.test", port: 80, addr: []string{"203.0.113.0/24"}, hint: "leave it out"},
		{host: "lan.test", port: 80, addr: []string{"::ffff:10.0.0.0/104"}, hint: "10.0.0.0/8"},
		{host: "lan.test", port: 80, addr: []string{"224.0.0.0/4"}, hint: "never dialled"},
		{host: "lan.test", port: 80, addr: []string{"ten"}, hint: "10.20.0.0/16"},

		{host: "10.0.0.5", port: 80, hint: "addresses: [10.0.0.5/32]"},
		{host: "10.0.0.5", port: 80, addr: []string{"10.0.0.5/32"}, want: "10.0.0.5:80"},
		{host: "10.0.0.5", port: 80, addr: []string{"10.0.1.0/24"}, hint: "addresses: [10.0.0.5/32]"},
		{host: "127.0.0.1", port: 80, hint: "addresses: [127.0.0.1/32]"},
		{host: "127.0.0.1", port: 80, addr: []string{"127.0.0.1/32"}, want: "127.0.0.1:80"},
		{host: "224.0.0.1", port: 80, hint: "remove the rule"},
		{host: "localhost", port: 80, hint: "add addresses"},
		{host: "localhost", port: 80, addr: []string{"127.0.0.1/32"}, want: "localhost:80"},
	}
	for _, r := range rows {
		got, err := ParseRule(r.host, r.port, r.addr)
		switch {
		case (err != nil) != (r.hint != ""):
			t.Errorf("%q:%d %v: error %v, want %q", r.host, r.port, r.addr, err, r.want)
		case err != nil && !strings.Contains(err.Error(), r.hint):
			t.Errorf("%q:%d %v: error %q does not say %q", r.host, r.port, r.addr, err, r.hint)
		case err == nil && got.String() != r.want:
			t.Errorf("%q:%d: %q, want %q", r.host, r.port, got, r.want)
		}
	}
}

// Rule and request have one canonical form: what a rule is given as, in ASCII,
// a request for the same text matches, and no request matches it by accident.
func FuzzRule(f *testing.F) {
	for _, s := range []string{
		"sharepoint.com.", "*.cloud.x", "*zimbra.com", "api.example.com..", "[allowed.example]", "bücher.test",
		"127.0.0.1", "::1", "0x7f000001", "*.0.0.1", "１２７.0.0.1", "localhost", "*", "https://a",
	} {
		f.Add(s, "sub."+s, uint16(443))
	}
	f.Fuzz(func(t *testing.T, rule, host string, port uint16) {
		r, err := ParseDenyRule(rule, int(port))
		if err != nil {
			return
		}
		checkCanonical(t, r.host)
		p := NewPolicy([]Rule{r}, nil)
		again, err := ParseDenyRule(strings.TrimSuffix(r.String(), r.host.String()[len(r.host.Host()):]), int(port))
		if r.host.Addr.Is6() {
			again, err = ParseDenyRule(r.host.Host(), int(port))
		}
		if err != nil || again.String() != r.String() {
			t.Fatalf("rule %q: canonical form %q reads as %q, %v", rule, r, again, err)
		}
		text := rule
		if r.host.Addr.Is6() && text[0] != '[' {
			text = "[" + text + "]"
		}
		a, err := ParseAuthority(text + r.host.String()[strings.LastIndexByte(r.host.String(), ':'):])
		if err == nil && (r.wildcard || a != r.host || p.Decide(a).Verdict != Allow) {
			t.Fatalf("rule %q: the request for the same text is %v, rule %v", rule, a, r)
		}
		if a, err := ParseAuthority(host + ":443"); err == nil && p.Decide(a).Verdict == Allow {
			if a.Addr.IsValid() && a.Addr != r.host.Addr {
				t.Fatalf("address %v matches rule %q", a, r)
			}
			suffix := "." + r.host.Name
			if r.wildcard && (len(a.Name) <= len(suffix) || !strings.HasSuffix(a.Name, suffix)) {
				t.Fatalf("%v matches rule %q", a, r)
			}
		}
	})
}
