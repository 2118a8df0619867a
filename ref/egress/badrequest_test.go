package egress

import (
	"net"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"bridgecheck/ref/egress/internal/vectors"
)

// docRows reads a table of the package documentation.
func docRows(t *testing.T, head string) [][]string {
	t.Helper()
	rows, err := vectors.DocRows("doc.go", head)
	if err != nil {
		t.Fatal(err)
	}
	return rows
}

// The package documentation says what each kind of bad request is answered;
// this keeps it true, also that the answer ends the connection, nothing is
// looked up or dialled, and there is one decision for it.
func TestBadRequestsAsDocumented(t *testing.T) {
	left := len(vectors.BadRequests)
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
		request, ok := vectors.BadRequests[row[0]]
		if !ok {
			t.Errorf("%s: no request in vectors", row[0])
			continue
		}
		left--
		before := l.count()
		c := l.dial()
		c.send(request)
		if row[0] == vectors.EndsEarly {
			c.Conn.(*net.TCPConn).CloseWrite()
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
		t.Errorf("%d requests in vectors have no row", left)
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
	for _, s := range vectors.BadRequests {
		f.Add([]byte(s))
	}
	f.Add([]byte("CONNECT a.test:443 HTTP/1.1\r\nHost: a.test:443\r\n\r\n"))
	f.Add([]byte("\r\nGET http://a.test/ HTTP/1.1\r\nHost: a.test\r\nConnection: upgrade\r\nUpgrade: websocket\r\n\r\nrest"))
	f.Add([]byte("GET http://a.test//a/%7Eb//../c;d=[e]? HTTP/1.1\r\nHost: a.test\r\n\r\n"))
	f.Add([]byte("GET http://a.test/a|b?{} HTTP/1.1\r\nHost: a.test\r\n\r\n"))
	f.Add([]byte("POST http://a.test/x?y HTTP/1.1\r\nHost: a.test\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n"))
	f.Fuzz(checkHead)
}
