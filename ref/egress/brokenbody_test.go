package egress

import (
	"io"
	"net/http"
	"strings"
	"testing"

	"bridgecheck/ref/egress/internal/vectors"
)

// ALW-019: a body whose framing is broken is the client's fault, and is answered
// and told as one.
func TestBrokenBodyIsTheClients(t *testing.T) {
	web := newWeb(t, func(_ http.ResponseWriter, r *http.Request) { io.Copy(io.Discard, r.Body) })
	l := newLab(t, Config{Policy: NewPolicy([]Rule{onLoopback(t, "web.test", web.port)}, nil)})
	l.dns.set("web.test", "127.0.0.1")
	at := target("web.test", web.port)
	for _, body := range vectors.BrokenBodies {
		c := l.dial()
		c.send("POST http://" + at + "/ HTTP/1.1\r\nHost: " + at + "\r\nTransfer-Encoding: chunked\r\n\r\n" + body)
		c.Conn.(interface{ CloseWrite() error }).CloseWrite()
		res, answer := c.response("POST")
		if res.StatusCode != http.StatusBadRequest || !res.Close || !strings.Contains(answer, `"reason":"malformed"`) {
			t.Errorf("%q: %s, close %v, %s", body, res.Status, res.Close, answer)
		}
	}
}
