package egress

import (
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
)

// However a request is framed, the upstream sees exactly one that is normal, or
// none; what hides in the body of one is never a second.
func TestUpstreamSeesOneRequestOrNone(t *testing.T) {
	var mu sync.Mutex
	var seen []string
	web := newWeb(t, func(w http.ResponseWriter, r *http.Request) {
		b, _ := io.ReadAll(r.Body)
		mu.Lock()
		defer mu.Unlock()
		seen = append(seen, r.Method+" "+r.RequestURI+" "+r.Host+" "+string(b))
	})
	l := newLab(t, Config{Policy: NewPolicy([]Rule{onLoopback(t, "web.test", web.port)}, nil)})
	l.dns.set("web.test", "127.0.0.1")
	at := target("web.test", web.port)
	inner := "GET /hidden HTTP/1.1\r\nHost: evil.tes\r\n\r\nxxxx" // 44 bytes, in hexadecimal 2c
	rows := []struct {
		name, fields, body string
		want               string // what the upstream may see, "" for nothing
	}{
		{"plain", "Content-Length: 3\r\n", "abc", "abc"},
		{"body that looks like a request", "Content-Length: 44\r\n", inner, inner},
		{"chunked", "Transfer-Encoding: chunked\r\n", "3\r\nabc\r\n0\r\n\r\n", "abc"},
		{"chunked, upper case", "Transfer-Encoding: CHUNKED\r\n", "3\r\nabc\r\n0\r\n\r\n", "abc"},
		{"chunk extension", "Transfer-Encoding: chunked\r\n", "3;a=\"b\"\r\nabc\r\n0\r\n\r\n", "abc"},
		{"trailer", "Transfer-Encoding: chunked\r\n", "3\r\nabc\r\n0\r\nHost: evil.test\r\n\r\n", "abc"},
		{"CL.TE", "Content-Length: 4\r\nTransfer-Encoding: chunked\r\n", "0\r\n\r\n" + inner, ""},
		{"TE.CL", "Transfer-Encoding: chunked\r\nContent-Length: 4\r\n", "2c\r\n" + inner + "\r\n0\r\n\r\n", ""},
		{"TE.TE", "Transfer-Encoding: chunked\r\nTransfer-encoding: identity\r\n", "0\r\n\r\n" + inner, ""},
		{"TE list", "Transfer-Encoding: chunked, identity\r\n", "0\r\n\r\n" + inner, ""},
		{"TE with tab", "Transfer-Encoding:\tchunked\r\n", "3\r\nabc\r\n0\r\n\r\n", "abc"},
		{"TE with vertical tab", "Transfer-Encoding: \x0bchunked\r\n", "0\r\n\r\n" + inner, ""},
		{"TE with space before the colon", "Transfer-Encoding : chunked\r\n", "0\r\n\r\n" + inner, ""},
		{"TE folded", "Transfer-Encoding:\r\n chunked\r\n", "0\r\n\r\n" + inner, ""},
		{"TE in quotes", "Transfer-Encoding: \"chunked\"\r\n", "0\r\n\r\n" + inner, ""},
		{"two CLs", "Content-Length: 0\r\nContent-Length: 44\r\n", inner, ""},
		{"CL list", "Content-Length: 0, 44\r\n", inner, ""},
		{"hexadecimal CL", "Content-Length: 0x2c\r\n", inner, ""},
		{"CL over 63 bits", "Content-Length: 9223372036854775808\r\n", inner, ""},
		{"CL nominated by Connection", "Connection: Content-Length\r\nContent-Length: 3\r\n", "abc", "abc"},
		{"TE nominated by Connection", "Connection: Transfer-Encoding\r\nTransfer-Encoding: chunked\r\n", "3\r\nabc\r\n0\r\n\r\n", "abc"},
		{"Host nominated by Connection", "Connection: Host\r\nContent-Length: 3\r\n", "abc", "abc"},
		{"field hidden by CR", "X: y\rContent-Length: 44\r\n", inner, ""},
		{"field hidden by LF", "X: y\nContent-Length: 44\r\n", inner, ""},
		{"field hidden by NUL", "X: y\x00Content-Length: 44\r\n", inner, ""},
	}
	for _, r := range rows {
		mu.Lock()
		seen = nil
		mu.Unlock()
		c := l.dial()
		c.send("POST http://" + at + "/p HTTP/1.1\r\nHost: " + at + "\r\n" + r.fields + "\r\n" + r.body)
		res, _ := c.response("POST")
		mu.Lock()
		switch {
		case r.want == "" && (len(seen) > 0 || res.StatusCode < 400 || !res.Close):
			t.Errorf("%s: %s, close %v, upstream saw %q", r.name, res.Status, res.Close, seen)
		case r.want != "" && (len(seen) != 1 || seen[0] != "POST /p "+at+" "+r.want):
			t.Errorf("%s: %s, upstream saw %q", r.name, res.Status, seen)
		}
		mu.Unlock()
	}
}

// A body that breaks off in its framing reaches nobody as a whole one, and what
// follows is no request.
func TestBrokenBody(t *testing.T) {
	whole := make(chan bool, 16)
	web := newWeb(t, func(w http.ResponseWriter, r *http.Request) {
		_, err := io.ReadAll(r.Body)
		whole <- err == nil
	})
	l := newLab(t, Config{Policy: NewPolicy([]Rule{onLoopback(t, "web.test", web.port)}, nil)})
	l.dns.set("web.test", "127.0.0.1")
	at := target("web.test", web.port)
	for _, body := range []string{
		"3\nabc\r\n0\r\n\r\n", "3\r\nabcX\r\n0\r\n\r\n", "-1\r\n\r\n", "0x3\r\nabc\r\n0\r\n\r\n",
		"ffffffffffffffffff\r\n", "3\r\nabc\r\n", " 3\r\nabc\r\n0\r\n\r\n", "3\r\nabc\r\n0\r\n X\r\n\r\n",
	} {
		c := l.dial()
		c.send("POST http://" + at + "/ HTTP/1.1\r\nHost: " + at + "\r\nTransfer-Encoding: chunked\r\n\r\n" + body)
		c.Conn.(interface{ CloseWrite() error }).CloseWrite()
		rest, _ := io.ReadAll(c.r)
		if n := strings.Count(string(rest), "HTTP/1.1 "); n > 1 || strings.HasPrefix(string(rest), "HTTP/1.1 200") {
			t.Errorf("%q: answered %q", body, rest)
		}
		select {
		case ok := <-whole:
			if ok {
				t.Errorf("%q: the upstream saw a whole body", body)
			}
		default:
		}
	}
}
