package egress

import (
	"net"
	"net/http"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"
)

// badRequests holds a request for each row of the table in the package
// documentation. "+" at the end leaves the connection open, "-" ends our side.
var badRequests = map[string]string{
	"CONNECT without port":                 "CONNECT a.test HTTP/1.1\r\nHost: a.test\r\n\r\n",
	"CONNECT to port 0":                    connectTo("a.test:0"),
	"CONNECT to port 65536":                connectTo("a.test:65536"),
	"CONNECT to a port that is no number":  connectTo("a.test:https"),
	"CONNECT to a signed port":             connectTo("a.test:+443"),
	"CONNECT to a port with leading zero":  connectTo("a.test:0443"),
	"CONNECT with userinfo":                connectTo("user@a.test:443"),
	"CONNECT with a path":                  connectTo("a.test:443/x"),
	"CONNECT with a query":                 connectTo("a.test:443?x"),
	"CONNECT with a scheme":                connectTo("https://a.test:443"),
	"CONNECT to an empty host":             connectTo(":443"),
	"CONNECT to a name with two dots":      connectTo("a.test..:443"),
	"CONNECT to a name with leading dot":   connectTo(".a.test:443"),
	"CONNECT to a name with underscore":    connectTo("a_b.test:443"),
	"CONNECT to a name of over 253":        connectTo(strings.Repeat("a.", 128) + ":443"),
	"CONNECT to a percent-encoded name":    connectTo("%61.test:443"),
	"CONNECT to a name outside ASCII":      connectTo("bücher.test:443"),
	"CONNECT to bare IPv6":                 connectTo("2001:db8::1:443"),
	"CONNECT to a zone":                    connectTo("[fe80::1%25eth0]:443"),
	"CONNECT to a name in brackets":        connectTo("[a.test]:443"),
	"CONNECT to an address with a dot":     connectTo("192.0.2.1.:443"),
	"CONNECT with a body":                  "CONNECT a.test:443 HTTP/1.1\r\nHost: a.test\r\nContent-Length: 1\r\n\r\nx",
	"CONNECT with another Host":            "CONNECT a.test:443 HTTP/1.1\r\nHost: b.test\r\n\r\n",
	"authority form without CONNECT":       "GET a.test:443 HTTP/1.1\r\nHost: a.test\r\n\r\n",
	"asterisk form":                        "OPTIONS * HTTP/1.1\r\nHost: a.test\r\n\r\n",
	"absolute form with https":             get("https://a.test/"),
	"absolute form with userinfo":          get("http://user@a.test/"),
	"absolute form with a fragment":        get("http://a.test/#x"),
	"absolute form with an empty host":     get("http:///x"),
	"absolute form with a bad escape":      get("http://allowed.test/%zz"),
	"origin form without a route":          get("/nowhere"),
	"origin form with a dot segment":       get("/mcp/a/../b"),
	"origin form with an encoded slash":    get("/mcp%2fa"),
	"no Host":                              "GET http://a.test/ HTTP/1.1\r\n\r\n",
	"two Hosts":                            "GET http://a.test/ HTTP/1.1\r\nHost: a.test\r\nHost: a.test\r\n\r\n",
	"Host that is no authority":            "GET http://a.test/ HTTP/1.1\r\nHost: a/b\r\n\r\n",
	"two spaces in the request line":       "GET  http://a.test/ HTTP/1.1\r\nHost: a.test\r\n\r\n",
	"method that is no token":              "G(T http://a.test/ HTTP/1.1\r\nHost: a.test\r\n\r\n",
	"version that is none":                 "GET http://a.test/ HTTP/x\r\nHost: a.test\r\n\r\n",
	"HTTP/0.9":                             "GET http://a.test/\r\n\r\n",
	"HTTP/1.2":                             "GET http://a.test/ HTTP/1.2\r\nHost: a.test\r\n\r\n",
	"HTTP/2 preface":                       "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n+",
	"TLS ClientHello":                      "\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03+",
	"SOCKS 4 greeting":                     "\x04\x01\x01\xbb\xc0\x00\x02\x01\x00+",
	"SOCKS 5 greeting":                     "\x05\x01\x00+",
	"binary":                               "\x00+",
	"bare LF":                              "GET http://a.test/ HTTP/1.1\nHost: a.test\n\n+",
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
	"head that ends early":                 "GET http://a.test/ HTTP/1.1\r\nHost: a.test\r\n-",
	"head that comes slowly":               "GET http://a.test/ HTTP/1.1\r\nHost: a.test\r\n+",
	"connection without a byte":            "+",
	"request line over the limit":          "GET http://a.test/" + strings.Repeat("x", 5000),
	"head over the limit":                  "GET http://a.test/ HTTP/1.1\r\nHost: a.test\r\nX: " + strings.Repeat("x", 5000),
	"too many fields":                      "GET http://a.test/ HTTP/1.1\r\nHost: a.test\r\n" + strings.Repeat("X: y\r\n", 20) + "\r\n",
}

func connectTo(target string) string {
	return "CONNECT " + target + " HTTP/1.1\r\nHost: " + target + "\r\n\r\n"
}

func get(target string) string {
	return "GET " + target + " HTTP/1.1\r\nHost: a.test\r\n\r\n"
}

func post(fields, body string) string {
	return "POST http://allowed.test/ HTTP/1.1\r\nHost: allowed.test\r\n" + fields + "\r\n\r\n" + body
}

// docRows reads the rows of the table whose first column head is given.
func docRows(t *testing.T, head string) [][]string {
	t.Helper()
	doc, err := os.ReadFile("doc.go")
	if err != nil {
		t.Fatal(err)
	}
	_, table, ok := strings.Cut(string(doc), "//\t"+head)
	if !ok {
		t.Fatalf("no table %q in doc.go", head)
	}
	var rows [][]string
	for line := range strings.Lines(table[strings.IndexByte(table, '\n')+1:]) {
		row, ok := strings.CutPrefix(strings.TrimSuffix(line, "\n"), "//\t")
		if !ok {
			break
		}
		rows = append(rows, regexp.MustCompile(` {2,}`).Split(row, -1))
	}
	return rows
}

// The package documentation says what each kind of bad request is answered;
// this keeps it true, also that the answer ends the connection, nothing is
// looked up or dialled, and there is one decision for it.
func TestBadRequestsAsDocumented(t *testing.T) {
	left := len(badRequests)
	web := newWeb(t, hello("web"))
	route := Route{Prefix: "/mcp/a", Handler: http.NotFoundHandler()}
	l := newLab(t, Config{
		Policy: NewPolicy([]Rule{mustRule(t, "allowed.test", 80)}, nil), Routes: []Route{route},
		Limits: Limits{HeadBytes: 4096, HeadFields: 16, HeadTimeout: 400 * time.Millisecond},
	})
	l.dns.set("allowed.test", "127.0.0.1")
	for _, row := range docRows(t, "kind of request") {
		if len(row) != 4 || !strings.HasPrefix(row[3], "RFC ") && row[3] != "canonical form" {
			t.Errorf("row %q: not kind, status, error type, source", row)
			continue
		}
		request, ok := badRequests[row[0]]
		if !ok {
			t.Errorf("%s: no request in this test", row[0])
			continue
		}
		left--
		before := l.count()
		c := l.dial()
		if request, ok = strings.CutSuffix(request, "-"); ok {
			c.send(request)
			c.Conn.(*net.TCPConn).CloseWrite()
		} else {
			c.send(strings.TrimSuffix(request, "+"))
		}
		res, body := c.response("GET")
		if strconv.Itoa(res.StatusCode) != row[1] || !strings.Contains(res.Header.Get("Proxy-Status"), "; error="+row[2]+"; ") {
			t.Errorf("%s: %s, Proxy-Status %q", row[0], res.Status, res.Header.Get("Proxy-Status"))
		}
		if goesOn := strings.HasPrefix(row[0], "origin form"); res.Close == goesOn {
			t.Errorf("%s: close is %v", row[0], res.Close)
		}
		if !strings.Contains(body, `"reason":"`) || l.last().Verdict != Deny || l.count() != before+1 {
			t.Errorf("%s: body %s, decision %+v", row[0], body, l.last())
		}
		if d := l.last(); d.Target() == "" && row[0] != "connection without a byte" {
			t.Errorf("%s: the decision does not say what was asked", row[0])
		}
		c.Close()
	}
	if left != 0 {
		t.Errorf("%d requests of this test have no row", left)
	}
	if l.dns.lookups() != 0 || web.accepted.Load() != 0 {
		t.Errorf("%d lookups, %d connections", l.dns.lookups(), web.accepted.Load())
	}
}

func TestReasonsAsDocumented(t *testing.T) {
	rows := docRows(t, "reason  ")
	for _, row := range rows {
		a, ok := answers[Reason(row[0])]
		if !ok || strconv.Itoa(a.status) != row[1] || a.error != row[2] {
			t.Errorf("%q: the answer is %v", row, a)
		}
	}
	for r, a := range answers {
		if a.error == "" || http.StatusText(a.status) == "" {
			t.Errorf("%s: answer %v", r, a)
		}
	}
}

func FuzzHead(f *testing.F) {
	for _, s := range badRequests {
		f.Add([]byte(strings.TrimRight(s, "+-")))
	}
	f.Add([]byte("CONNECT a.test:443 HTTP/1.1\r\nHost: a.test:443\r\n\r\n"))
	f.Add([]byte("\r\nGET http://a.test/ HTTP/1.1\r\nHost: a.test\r\nConnection: upgrade\r\nUpgrade: websocket\r\n\r\nrest"))
	f.Add([]byte("POST http://a.test/x?y HTTP/1.1\r\nHost: a.test\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n"))
	f.Fuzz(checkHead)
}
