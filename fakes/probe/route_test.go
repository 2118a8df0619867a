package probe

import (
	"net"
	"strings"
	"testing"
)

func TestParseTarget(t *testing.T) {
	for _, c := range []struct{ raw, authority, path, hostPort, hostname string }{
		{"http://a.test", "a.test", "/", "a.test:80", "a.test"},
		{"http://a.test/", "a.test", "/", "a.test:80", "a.test"},
		{"https://a.test:8443/x?y#z", "a.test:8443", "/x?y#z", "a.test:8443", "a.test"},
		{"https://a.test?q", "a.test", "?q", "a.test:443", "a.test"},
		{"http://[::1]:8080/a/../b", "[::1]:8080", "/a/../b", "[::1]:8080", "::1"},
		{"http://[::1]/", "[::1]", "/", "[::1]:80", "::1"},
		{"http://a.test/%2e%2e//", "a.test", "/%2e%2e//", "a.test:80", "a.test"},
	} {
		got, err := parseTarget(c.raw)
		if err != nil || got.authority != c.authority || got.path != c.path ||
			got.hostPort() != c.hostPort || got.hostname() != c.hostname {
			t.Errorf("%s: %+v %s %s, %v", c.raw, got, got.hostPort(), got.hostname(), err)
		}
	}
	for _, raw := range []string{"", "a.test", "//a.test", "ftp://a.test", "http:/a.test"} {
		if got, err := parseTarget(raw); err == nil {
			t.Errorf("%q: %+v", raw, got)
		}
	}
}

// FuzzParseTarget: nothing of the URL is lost or tidied up.
func FuzzParseTarget(f *testing.F) {
	for _, seed := range []string{"http://a/b", "https://[::1]:1?x", "http://", "http://a:b:c/"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, raw string) {
		parsed, err := parseTarget(raw)
		if err != nil {
			return
		}
		whole := parsed.scheme + "://" + parsed.authority + parsed.path
		if whole != raw && whole != raw+"/" {
			t.Errorf("%q became %q", raw, whole)
		}
		if _, _, err := net.SplitHostPort(parsed.hostPort()); err == nil && !strings.HasPrefix(parsed.hostPort(), parsed.authority) {
			t.Errorf("%q: host and port %q", raw, parsed.hostPort())
		}
	})
}
