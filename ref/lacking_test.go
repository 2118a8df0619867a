package ref

import "testing"

// The servers of resolv.conf are those of the launcher's proxy: a resolver that is
// asked for must be the only one of them.
func TestOnlyServer(t *testing.T) {
	for _, row := range []struct {
		conf, address string
		want          bool
	}{
		{"", "127.0.0.1:53", true}, // the default, resolv.conf(5)
		{"", "127.0.0.2:53", false},
		{"nameserver 127.0.0.1\noptions timeout:1\n", "127.0.0.1:53", true},
		{"nameserver 192.0.2.1\n", "192.0.2.1:53", true},
		{"nameserver 192.0.2.1\n", "192.0.2.1:5353", false},
		{"nameserver 192.0.2.1\nnameserver 192.0.2.2\n", "192.0.2.1:53", false},
		{"nameserver 192.0.2.1\n", "192.0.2.2:53", false},
		{"# nameserver 192.0.2.1\n", "127.0.0.1:53", true},
		{"nameserver 2001:db8::1\n", "[2001:db8::1]:53", true},
		{"nameserver 192.0.2.1\n", "nonsense", false},
	} {
		if got := onlyServer(row.conf, row.address); got != row.want {
			t.Errorf("%q with %s: %v", row.conf, row.address, got)
		}
	}
}
