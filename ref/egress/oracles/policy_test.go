package oracles

import "bridgecheck/ref/egress/internal/vectors"

const (
	caseless  = "RFC 3986 section 6.2.2.1"
	rootDot   = "RFC 1034 section 3.1"
	noAddress = "RFC 3986 section 3.2.2"
	authority = "RFC 9110 section 7.2"
	connects  = "RFC 9110 section 9.3.6"
	absolute  = "RFC 9112 section 3.2.2"
	fixed     = "RFC 9110 section 4.3.1"
	rebinding = "RFC 8305 section 3"
)

// policy are questions about the list, in CONNECT and in absolute form. The
// rules stand in allowedHosts, each for the ports of the lab.
var policy = []vector{
	{name: "exact rule", source: connects, why: "the rule names it", sends: vectors.Connect("exact.example:443")},
	{name: "exact rule, upper case", source: caseless, why: "case does not count in a host", sends: vectors.Connect("EXACT.Example:443")},
	{name: "exact rule, root dot", source: rootDot, why: "the absolute form of the same name", sends: vectors.Connect("exact.example.:443")},
	{name: "exact rule, two dots", source: rootDot, sends: vectors.Connect("exact.example..:443")},
	{name: "exact rule, port without rule", source: fixed, why: "a rule is for a host and a port: another port is another origin", sends: vectors.Connect("exact.example:9999")},
	{name: "name below an exact rule", source: rootDot, sends: vectors.Connect("sub.exact.example:443")},
	{name: "name that ends like an exact rule", source: rootDot, sends: vectors.Connect("evilexact.example:443")},
	{name: "name that begins like an exact rule", source: rootDot, sends: vectors.Connect("exact.example.evil.example:443")},
	{name: "wildcard rule", source: rootDot, why: "the rule is for names below it", sends: vectors.Connect("a.wild.example:443")},
	{name: "wildcard rule, two levels", source: rootDot, why: "the rule is for names below it, at every depth", sends: vectors.Connect("a.b.wild.example:443")},
	{name: "wildcard rule, upper case and root dot", source: caseless, why: "neither counts", sends: vectors.Connect("A.WILD.Example.:443")},
	{name: "wildcard rule, the name itself", source: "RFC 9525 section 6.3", why: "*. stands for a label at least", sends: vectors.Connect("wild.example:443")},
	{name: "name that ends like a wildcard rule", source: rootDot, sends: vectors.Connect("awild.example:443")},
	{name: "rule in other letters and with a root dot", source: caseless, why: "rules and requests have one canonical form", sends: vectors.Connect("ruled.example:443")},
	{name: "rule as U-label", source: "RFC 5890 section 2.3.2.1", why: "the name on the wire is the A-label", sends: vectors.Connect("xn--bcher-kva.example:443")},
	{name: "literal of a rule", source: noAddress, why: "the rule names the address", sends: vectors.Connect("192.0.2.1:443")},
	{name: "literal of a rule, mapped", source: "RFC 4291 section 2.5.5.2", why: "the kernel dials the same address", sends: vectors.Connect("[::ffff:192.0.2.1]:443")},
	{name: "literal of an IPv6 rule, other text", source: "RFC 5952 section 2", why: "one address has many texts", sends: vectors.Connect("[2001:DB8:0:0::0001]:443")},
	{name: "literal that no rule names", source: noAddress, sends: vectors.Connect("192.0.2.10:443")},
	{name: "loopback literal", source: noAddress, sends: vectors.Connect("127.0.0.1:443")},
	{name: "loopback literal, IPv6", source: noAddress, sends: vectors.Connect("[::1]:443")},
	{name: "loopback literal, mapped", source: noAddress, sends: vectors.Connect("[::ffff:127.0.0.1]:443")},
	{name: "unspecified literal", source: noAddress, sends: vectors.Connect("0.0.0.0:443")},
	{name: "loopback in octal", source: noAddress, sends: vectors.Connect("0177.0.0.1:443")},
	{name: "loopback in hexadecimal", source: noAddress, sends: vectors.Connect("0x7f000001:443")},
	{name: "loopback as one number", source: noAddress, sends: vectors.Connect("2130706433:443")},
	{name: "loopback with two parts", source: noAddress, sends: vectors.Connect("127.1:443")},
	{name: "name that carries data", source: "RFC 9110 section 15.5.4", why: "a refused name is not looked up: the question itself would tell", sends: vectors.Connect("c2VjcmV0.evil.example:443")},

	{name: "absolute form", source: absolute, why: "the rule names it", sends: get("http://exact.example/x?y", "exact.example")},
	{name: "absolute form, upper case", source: caseless, why: "case counts in neither scheme nor host", sends: get("HTTP://EXACT.Example/x", "exact.example")},
	{name: "absolute form, root dot", source: rootDot, why: "the absolute form of the same name; the upstream gets the canonical one", sends: get("http://exact.example./x", "exact.example.")},
	{name: "absolute form, empty path", source: "RFC 9110 section 4.2.3", why: "the empty path is /", sends: get("http://exact.example", "exact.example")},
	{name: "absolute form, query without path", source: "RFC 9110 section 4.2.3", why: "the empty path is /", sends: get("http://exact.example?y", "exact.example")},
	{name: "absolute form, path kept as it is", source: "RFC 9110 section 7.7", why: "a proxy does not rewrite path and query", sends: get("http://exact.example/a/%7Eb//../c;d=e|f?", "exact.example")},
	{name: "absolute form, path with two slashes kept as it is", source: "RFC 9110 section 7.7", why: "a proxy does not rewrite path and query", sends: get("http://exact.example//a/%7Eb//../c;d=[e]?", "exact.example")},
	{name: "absolute form, port without rule", source: fixed, sends: get("http://exact.example:9999/", "exact.example:9999")},
	{name: "absolute form, refused host", source: absolute, sends: get("http://evil.example/", "evil.example")},
	{name: "absolute form, refused target behind an allowed Host", source: absolute, sends: get("http://evil.example/", "exact.example")},
	{name: "absolute form, allowed target before a refused Host", source: absolute, why: "Host is ignored and replaced by the target", sends: get("http://exact.example/", "evil.example")},
	{name: "origin form with an allowed Host", source: "RFC 9112 section 3.2.1", why: "not a request for a proxy, which is no gateway to what Host says", sends: get("/x", "exact.example")},
	{name: "absolute form, loopback literal", source: noAddress, sends: get("http://127.0.0.1/", "127.0.0.1")},
	{name: "absolute form, loopback as one number", source: noAddress, sends: get("http://2130706433/", "2130706433")},
	{name: "absolute form, HTTP/1.0 without Host", source: "RFC 9112 section 3.2", why: "HTTP/1.0 does not require Host", sends: "GET http://exact.example/ HTTP/1.0\r\n\r\n"},
	{name: "absolute form, method of two methods", source: "RFC 9110 section 9.1", why: "any token is a method", sends: "M-SEARCH http://exact.example/ HTTP/1.1\r\nHost: exact.example\r\n\r\n"},
}

// resolution are questions about the way from a name to an address.
var resolution = []vector{
	{name: "name without address", source: "RFC 9209 section 2.3.2", sends: vectors.Connect("gone.test:443")},
	{name: "inside address", source: "RFC 1918 section 3", sends: vectors.Connect("inside.test:443")},
	{name: "inside address, absolute form", source: "RFC 1918 section 3", sends: get("http://inside.test/", "inside.test")},
	{name: "inside address, upgrade", source: "RFC 1918 section 3", sends: upgrade("inside.test"), reply: "firstping"},
	{name: "inside addresses alone", source: "RFC 1918 section 3", sends: vectors.Connect("private.test:443")},
	{name: "inside and public addresses", source: "RFC 8305 section 5", why: "the safe one is dialled, the other is not tried", sends: vectors.Connect("mixed.test:443")},
	{name: "answer that changes after the first question", source: rebinding, why: "one lookup a dial: what was judged is dialled", sends: vectors.Connect("rebind.test:443")},
}
