package vectors

import "strings"

// BadRequests holds a request for each kind that the table in the documentation
// of package egress names. What is not a whole head is followed by silence, but
// for [EndsEarly].
var BadRequests = map[string]string{
	"CONNECT without port":                 "CONNECT a.test HTTP/1.1\r\nHost: a.test\r\n\r\n",
	"CONNECT to port 0":                    Connect("a.test:0"),
	"CONNECT to port 65536":                Connect("a.test:65536"),
	"CONNECT to a port that is no number":  Connect("a.test:https"),
	"CONNECT to a signed port":             Connect("a.test:+443"),
	"CONNECT to a port with leading zero":  Connect("a.test:0443"),
	"CONNECT with userinfo":                Connect("user@a.test:443"),
	"CONNECT with a path":                  Connect("a.test:443/x"),
	"CONNECT with a query":                 Connect("a.test:443?x"),
	"CONNECT with a scheme":                Connect("https://a.test:443"),
	"CONNECT to an empty host":             Connect(":443"),
	"CONNECT to a name with two dots":      Connect("a.test..:443"),
	"CONNECT to a name with leading dot":   Connect(".a.test:443"),
	"CONNECT to a name with underscore":    Connect("a_b.test:443"),
	"CONNECT to a name of over 253":        Connect(strings.Repeat("a.", 128) + ":443"),
	"CONNECT to a percent-encoded name":    Connect("%61.test:443"),
	"CONNECT to a name outside ASCII":      Connect("bücher.test:443"),
	"CONNECT to bare IPv6":                 Connect("2001:db8::1:443"),
	"CONNECT to a zone":                    Connect("[fe80::1%25eth0]:443"),
	"CONNECT to a name in brackets":        Connect("[a.test]:443"),
	"CONNECT to an address with a dot":     Connect("192.0.2.1.:443"),
	"CONNECT with a body":                  "CONNECT a.test:443 HTTP/1.1\r\nHost: a.test\r\nContent-Length: 1\r\n\r\nx",
	"CONNECT with another Host":            "CONNECT a.test:443 HTTP/1.1\r\nHost: b.test\r\n\r\n",
	"authority form without CONNECT":       "GET a.test:443 HTTP/1.1\r\nHost: a.test\r\n\r\n",
	"asterisk form":                        "OPTIONS * HTTP/1.1\r\nHost: a.test\r\n\r\n",
	"absolute form with https":             Get("https://a.test/"),
	"absolute form with userinfo":          Get("http://user@a.test/"),
	"absolute form with a fragment":        Get("http://a.test/#x"),
	"absolute form with an empty host":     Get("http:///x"),
	"absolute form with a bad escape":      Get("http://allowed.test/%zz"),
	"absolute form with // and a bad path": Get("http://allowed.test//a|b"),
	"origin form without a route":          Get("/nowhere"),
	"origin form with a dot segment":       Get("/mcp/a/../b"),
	"origin form with an encoded slash":    Get("/mcp%2fa"),
	"no Host":                              "GET http://a.test/ HTTP/1.1\r\n\r\n",
	"two Hosts":                            "GET http://a.test/ HTTP/1.1\r\nHost: a.test\r\nHost: a.test\r\n\r\n",
	"Host that is no authority":            "GET http://a.test/ HTTP/1.1\r\nHost: a/b\r\n\r\n",
	"two spaces in the request line":       "GET  http://a.test/ HTTP/1.1\r\nHost: a.test\r\n\r\n",
	"method that is no token":              "G(T http://a.test/ HTTP/1.1\r\nHost: a.test\r\n\r\n",
	"version that is none":                 "GET http://a.test/ HTTP/x\r\nHost: a.test\r\n\r\n",
	"HTTP/0.9":                             "GET http://a.test/\r\n\r\n",
	"HTTP/1.2":                             "GET http://a.test/ HTTP/1.2\r\nHost: a.test\r\n\r\n",
	"HTTP/2 preface":                       "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
	"TLS ClientHello":                      "\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03",
	"SOCKS 4 greeting":                     "\x04\x01\x01\xbb\xc0\x00\x02\x01\x00",
	"SOCKS 5 greeting":                     "\x05\x01\x00",
	"binary":                               "\x00",
	"bare LF":                              "GET http://a.test/ HTTP/1.1\nHost: a.test\n\n",
	"bare CR":                              "GET http://a.test/ HTTP/1.1\r\nHost: a.test\rX: y\r\n\r\n",
	"NUL":                                  "GET http://a.test/ HTTP/1.1\r\nHost: a.test\r\nX: a\x00b\r\n\r\n",
	"DEL":                                  "GET http://a.test/ HTTP/1.1\r\nHost: a.test\r\nX: a\x7fb\r\n\r\n",
	"folded field":                         "GET http://a.test/ HTTP/1.1\r\nHost: a.test\r\nX: a\r\n b\r\n\r\n",
	"space before the first field":         "GET http://a.test/ HTTP/1.1\r\n Host: a.test\r\n\r\n",
	"space before the colon":               "GET http://a.test/ HTTP/1.1\r\nHost : a.test\r\n\r\n",
	"field without colon":                  "GET http://a.test/ HTTP/1.1\r\nHost: a.test\r\nX\r\n\r\n",
	"field without name":                   "GET http://a.test/ HTTP/1.1\r\nHost: a.test\r\n: x\r\n\r\n",
	"Content-Length and Transfer-Encoding": post("Content-Length: 5\r\nTransfer-Encoding: chunked", "0\r\n\r\n"),
	"two Content-Lengths":                  post("Content-Length: 1\r\nContent-Length: 2", "xx"),
	"two equal Content-Lengths":            post("Content-Length: 1\r\nContent-Length: 1", "x"),
	"list of Content-Lengths":              post("Content-Length: 1, 1", "x"),
	"signed Content-Length":                post("Content-Length: +1", "x"),
	"Transfer-Encoding in HTTP/1.0":        "POST http://allowed.test/ HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
	"other transfer coding":                post("Transfer-Encoding: gzip, chunked", "0\r\n\r\n"),
	"chunked twice":                        post("Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked", "0\r\n\r\n"),
	"other expectation":                    post("Expect: a-miracle\r\nContent-Length: 1", "x"),
	"OPTIONS with Max-Forwards 0":          "OPTIONS http://allowed.test/ HTTP/1.1\r\nHost: allowed.test\r\nMax-Forwards: 0\r\n\r\n",
	"head that ends early":                 "GET http://a.test/ HTTP/1.1\r\nHost: a.test\r\n",
	"head that comes slowly":               "GET http://a.test/ HTTP/1.1\r\nHost: a.test\r\n",
	"connection without a byte":            "",
	"request line over the limit":          "GET http://a.test/" + strings.Repeat("x", 5000),
	"head over the limit":                  "GET http://a.test/ HTTP/1.1\r\nHost: a.test\r\nX: " + strings.Repeat("x", 5000),
	"too many fields":                      "GET http://a.test/ HTTP/1.1\r\nHost: a.test\r\n" + strings.Repeat("X: y\r\n", 20) + "\r\n",
}

// EndsEarly is the kind of bad request after which the client ends its side.
const EndsEarly = "head that ends early"

// Connect is a CONNECT request for a target.
func Connect(target string) string {
	return "CONNECT " + target + " HTTP/1.1\r\nHost: " + target + "\r\n\r\n"
}

// Get is a request in the form of its target; its Host is a.test.
func Get(target string) string {
	return "GET " + target + " HTTP/1.1\r\nHost: a.test\r\n\r\n"
}

func post(fields, body string) string {
	return "POST http://allowed.test/ HTTP/1.1\r\nHost: allowed.test\r\n" + fields + "\r\n\r\n" + body
}
