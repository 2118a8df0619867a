package egress

import (
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"bridgecheck/ref/egress/internal/vectors"
)

// What a decision quotes of a request holds no secret.
func TestDecisionsHoldNoSecret(t *testing.T) {
	l := newLab(t, Config{Routes: []Route{{Prefix: "/v1", Handler: http.NotFoundHandler()}}})
	for _, request := range []string{
		vectors.Connect("user:s3cret@a.test:443"),
		vectors.Connect("a.test:443?key=s3cret"),
		vectors.Get("http://user:s3cret@a.test/"),
		vectors.Get("http://a.test/?key=s3cret"),
		vectors.Get("http://a.test/?key=s3cret#x"),
		vectors.Get("/v2?key=s3cret"),
		vectors.Get("/v1/../x?key=s3cret"),
		"GET http://a.test/?key=s3cret HTTP/1.1\r\nHost: a.test\r\nX : y\r\n\r\n",
		"GET http://a.test/ HTTP/1.1\r\nHost: user:s3cret@a.test\r\n\r\n",
		"GET http://a.test/?key=s3cret HTTP/1.1 \r\nHost: a.test\r\n\r\n",
	} {
		c := l.dial()
		c.send(request)
		c.response("GET")
		if d := l.last(); d.Verdict != Deny || strings.Contains(d.Target()+d.Detail+d.message(), "s3cret") {
			t.Errorf("%q: %+v", request, d)
		}
	}
	for in, want := range map[string]string{
		"a.test:443":                    `"a.test:443"`,
		"GET http://u:p@a.test/x?y=z 1": `"GET http://...@a.test/x?..."`,
		"u:p@a.test":                    `"...@a.test"`,
		"http://a/@b":                   `"http://a/...@b"`,
	} {
		if got := quoteTarget(in); got != want {
			t.Errorf("%q: %s, want %s", in, got, want)
		}
	}
}

// A decision is told when it is made, not when the answer comes.
func TestDecisionIsPrompt(t *testing.T) {
	goOn := make(chan struct{})
	web := newWeb(t, func(w http.ResponseWriter, r *http.Request) { <-goOn })
	l := newLab(t, Config{Policy: NewPolicy([]Rule{onLoopback(t, "web.test", web.port)}, nil)})
	l.dns.set("web.test", "127.0.0.1")
	c := l.dial()
	c.send(vectors.Get("http://" + target("web.test", web.port) + "/"))
	eventually(t, "the decision is told", func() bool { return l.count() == 1 })
	close(goOn)
	c.response("GET")
	if d := l.last(); l.count() != 1 || d.Verdict != Allow || !d.Dialled.IsValid() {
		t.Errorf("%d decisions, %+v", l.count(), d)
	}
}

// Who asks does not matter: a request through a relay of the client's own gets
// the same decision.
func TestPeerDoesNotMatter(t *testing.T) {
	l := newLab(t, Config{})
	relay := newFar(t, func(c net.Conn) {
		up, err := net.Dial("tcp", l.addr)
		if err != nil {
			return
		}
		defer up.Close()
		Splice(c, up, patience)
	})
	c := dialClient(t, "tcp", relay.Addr().String())
	c.send(vectors.Connect("a.test:443"))
	if res, _ := c.response("CONNECT"); res.StatusCode != 403 {
		t.Errorf("%s", res.Status)
	}
}

// Clients that ignore NO_PROXY ask the proxy for the proxy.
func TestSelf(t *testing.T) {
	l := newLab(t, Config{
		Self:   []uint16{18080},
		Routes: []Route{{Prefix: "/mcp/jira", Server: "jira", Handler: hello("jira")}},
	})
	for _, host := range []string{"127.0.0.1", "localhost", "[::1]"} {
		c := l.dial()
		c.send(vectors.Get("http://" + target(host, 18080) + "/mcp/jira"))
		if _, body := c.response("GET"); body != "jira GET /mcp/jira " {
			t.Errorf("%s, absolute form: %q", host, body)
		}
		c = l.dial()
		c.connect(target(host, 18080))
		for range 2 {
			c.send(vectors.Get("/mcp/jira"))
			if _, body := c.response("GET"); body != "jira GET /mcp/jira " {
				t.Errorf("%s, tunnel: %q", host, body)
			}
		}
		c.send(vectors.Get("http://a.test/"))
		if res, _ := c.response("GET"); res.StatusCode != 400 {
			t.Errorf("%s, tunnel to another host: %s", host, res.Status)
		}
	}
	c := l.dial()
	c.send(vectors.Get("http://127.0.0.1:18081/mcp/jira"))
	if res, _ := c.response("GET"); res.StatusCode != 502 {
		t.Errorf("another port: %s", res.Status)
	}
}

// An upgraded connection is idle by its own bytes, not since the request.
func TestUpgradeOutlivesIdleLimit(t *testing.T) {
	const idle = 200 * time.Millisecond
	web := newWeb(t, func(w http.ResponseWriter, r *http.Request) {
		conn, rw, err := http.NewResponseController(w).Hijack()
		if err != nil {
			t.Error(err)
			return
		}
		defer conn.Close()
		io.WriteString(conn, "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n")
		io.Copy(conn, rw)
	})
	l := newLab(t, Config{Policy: NewPolicy([]Rule{onLoopback(t, "web.test", web.port)}, nil), Limits: Limits{IdleTimeout: idle}})
	l.dns.set("web.test", "127.0.0.1")
	c := l.dial()
	c.send("GET http://" + target("web.test", web.port) + "/ HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n")
	if res, err := http.ReadResponse(c.r, nil); err != nil || res.StatusCode != 101 {
		t.Fatalf("%v, %v", res, err)
	}
	for range 10 {
		time.Sleep(idle / 4)
		c.send("x")
		c.read(1)
	}
	if _, err := c.r.ReadByte(); err == nil {
		t.Error("the silent connection lives on")
	}
}

// Connections that wait for a request do not hold up a shutdown.
func TestShutdownEndsWaitingConnections(t *testing.T) {
	l := newLab(t, Config{})
	fresh := l.dial()
	used := l.dial()
	used.send(vectors.Get("http://a.test/"))
	used.response("GET")
	eventually(t, "both wait", func() bool { return l.proxy.connections() == 2 })
	if err := l.proxy.Shutdown(t.Context()); err != nil {
		t.Error(err)
	}
	for _, c := range []*client{fresh, used} {
		if _, err := c.r.ReadByte(); err == nil {
			t.Error("a connection lives on")
		}
	}
}
