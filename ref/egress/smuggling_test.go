package egress

import (
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"

	"bridgecheck/ref/egress/internal/vectors"
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
	for _, r := range vectors.Framings {
		mu.Lock()
		seen = nil
		mu.Unlock()
		c := l.dial()
		c.send("POST http://" + at + "/p HTTP/1.1\r\nHost: " + at + "\r\n" + r.Fields + "\r\n" + r.Body)
		res, _ := c.response("POST")
		mu.Lock()
		switch {
		case r.Seen == "" && (len(seen) > 0 || res.StatusCode < 400 || !res.Close):
			t.Errorf("%s: %s, close %v, upstream saw %q", r.Name, res.Status, res.Close, seen)
		case r.Seen != "" && (len(seen) != 1 || seen[0] != "POST /p "+at+" "+r.Seen):
			t.Errorf("%s: %s, upstream saw %q", r.Name, res.Status, seen)
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
	for _, body := range vectors.BrokenBodies {
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
