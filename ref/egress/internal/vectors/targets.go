package vectors

import (
	"slices"
	"strings"
)

// Target is a request target in authority form, or what somebody took for one.
type Target struct {
	In string
	// Canonical is the one form of the target, empty for none.
	Canonical string
	// Source is the section that says so.
	Source string
}

var longest = strings.Repeat("a.", 126) + "a" // 253

// Targets stand in pairs just inside and just outside each edge of the grammar.
var Targets = slices.Concat(
	of("RFC 1123 section 2.1, RFC 1034 section 3.1", [][2]string{
		{"example.test:443", "example.test:443"},
		{"EXAMPLE.Test:443", "example.test:443"},
		{"example.test.:443", "example.test:443"},
		{"example.test..:443", ""},
		{".example.test:443", ""},
		{"a..b:443", ""},
		{":443", ""},
		{".:443", ""},
		{"", ""},
		{longest + ":1", longest + ":1"},
		{longest + ".:1", longest + ":1"},
		{longest + "a:1", ""},
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
	}),
	of("RFC 9110 section 9.3.6, RFC 3986 section 3.2.3", [][2]string{
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
	}),
	of("RFC 3986 section 3.2.2", [][2]string{
		{"192.0.2.1:80", "192.0.2.1:80"},
		{"192.0.2.1.:80", ""},
		{"192.0.2.01:80", "192.0.2.01:80"}, // a name
		{"0177.0.0.1:80", "0177.0.0.1:80"},
		{"0x7f000001:80", "0x7f000001:80"},
		{"2130706433:80", "2130706433:80"},
		{"127.1:80", "127.1:80"},
		{"256.0.0.1:80", "256.0.0.1:80"},
		{"[192.0.2.1]:80", ""},
	}),
	of("RFC 3986 section 3.2.2, RFC 4291 section 2.2", [][2]string{
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
	}),
)

func of(source string, rows [][2]string) []Target {
	var list []Target
	for _, r := range rows {
		list = append(list, Target{In: r[0], Canonical: r[1], Source: source})
	}
	return list
}
