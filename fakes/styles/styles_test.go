package styles

import "testing"

// TestChoose: rows from the measurements of each client.
func TestChoose(t *testing.T) {
	const proxy = "http://127.0.0.1:18080"
	set := map[string]string{
		"HTTP_PROXY": proxy, "http_proxy": proxy, "NO_PROXY": "localhost,127.0.0.1,::1", "no_proxy": "localhost,127.0.0.1,::1", "NODE_USE_ENV_PROXY": "1",
	}
	upper := map[string]string{"HTTP_PROXY": proxy, "NO_PROXY": ".a.test"}
	cidr := map[string]string{"HTTP_PROXY": proxy, "http_proxy": proxy, "NO_PROXY": "127.0.0.0/8", "no_proxy": "127.0.0.0/8", "NODE_USE_ENV_PROXY": "1"}
	for _, c := range []struct {
		style string
		env   map[string]string
		host  string
		want  Way
	}{
		{"curl", set, "jira.mcp.internal", Absolute},
		{"curl", upper, "jira.mcp.internal", Direct},
		{"curl", set, "127.0.0.1", Direct},
		{"curl", cidr, "127.0.0.1", Direct},
		{"go", set, "jira.mcp.internal", Absolute},
		{"go", map[string]string{"HTTP_PROXY": proxy}, "127.0.0.1", Direct},
		{"go", map[string]string{"HTTP_PROXY": proxy}, "localhost", Direct},
		{"python", upper, "x.test", Absolute},
		{"python", upper, "x.a.test", Direct},
		{"python", cidr, "127.0.0.1", Absolute},
		{"node-fetch", set, "jira.mcp.internal", Direct},
		{"node-fetch-env", set, "jira.mcp.internal", Tunnel},
		{"node-fetch-env", upper, "x.test", Direct},
		{"node-fetch-env", cidr, "127.0.0.1", Tunnel},
		{"node-http-env", set, "jira.mcp.internal", Absolute},
		{"bun", map[string]string{"ALL_PROXY": proxy}, "x.test", Absolute},
		{"bun", cidr, "127.0.0.1", Direct},
		{"bun-strict", map[string]string{"ALL_PROXY": proxy}, "x.test", Direct},
		{"reqwest", cidr, "127.0.0.1", Direct},
		{"loopback-absolute", set, "127.0.0.1", Absolute},
		{"loopback-tunnel", set, "127.0.0.1", Tunnel},
	} {
		s, found := Find(c.style)
		if !found {
			t.Fatalf("no style %s", c.style)
		}
		got, by := s.Choose(func(name string) string { return c.env[name] }, c.host, "80")
		if got != c.want || (got == Direct) != (by == "") {
			t.Errorf("%s to %s: %s by %q, want %s", c.style, c.host, got, by, c.want)
		}
	}
	if _, found := Find("netscape"); found {
		t.Error("there is a style nobody wrote")
	}
}

func TestEntries(t *testing.T) {
	for _, c := range []struct {
		entry, host string
		kind        Entries
	}{
		{".a.test", "x.a.test", DotSuffix},
		{".a.test", "a.test", DotSuffix},
		{"a.test", "x.a.test", BareSuffix},
		{"*.a.test", "x.a.test", StarSuffix},
		{"a.test:80", "a.test", HostPort},
		{"10.0.0.0/8", "10.1.2.3", CIDR},
		{"*", "a.test", Everything},
	} {
		if !c.kind.match("other.test, "+c.entry, c.host, "80") {
			t.Errorf("%s does not cover %s", c.entry, c.host)
		}
		if Equal.match(c.entry, c.host, "80") || c.kind.match(c.entry, "xa.test.", "80") && c.entry != "*" {
			t.Errorf("%s covers too much", c.entry)
		}
	}
	if !Equal.match("[::1]", "::1", "80") || !Equal.match("A.test", "a.TEST", "80") || HostPort.match("a.test:81", "a.test", "80") {
		t.Error("equal names")
	}
}
