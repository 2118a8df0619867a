package egress

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
)

func TestForward(t *testing.T) {
	var seen *http.Request
	web := newWeb(t, func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		seen = r.Clone(t.Context())
		w.Header().Set("Connection", "X-Internal")
		w.Header().Set("X-Internal", "1")
		w.Header().Set("Keep-Alive", "timeout=5")
		w.Header().Set("X-Kept", "yes")
		w.WriteHeader(http.StatusTeapot)
		w.Write(body)
	})
	l := newLab(t, Config{Policy: NewPolicy([]Rule{onLoopback(t, "web.test", web.port)}, nil)})
	l.dns.set("web.test", "127.0.0.1")
	c := l.dial()
	for range 2 {
		c.send("POST http://" + target("WEB.test", web.port) + "/a%20b/|?q={x}&y HTTP/1.1\r\nHost: other.test\r\nContent-Length: 3\r\n" +
			"Proxy-Connection: keep-alive\r\nConnection: X-Drop, keep-alive\r\nX-Drop: 1\r\nProxy-Authorization: Basic xx\r\nTE: trailers\r\nX-Keep: 1\r\n\r\nabc")
		res, body := c.response("POST")
		if res.StatusCode != 418 || body != "abc" || res.Header.Get("X-Kept") != "yes" || res.Header.Get("Via") != "1.1 egress" {
			t.Errorf("%s %q %v", res.Status, body, res.Header)
		}
		for _, h := range []string{"X-Internal", "Keep-Alive"} {
			if res.Header.Get(h) != "" {
				t.Errorf("answer keeps %s", h)
			}
		}
		if seen.Host != target("web.test", web.port) || seen.RequestURI != "/a%20b/|?q={x}&y" || seen.Header.Get("X-Keep") != "1" {
			t.Errorf("upstream saw %s %s %v", seen.Host, seen.RequestURI, seen.Header)
		}
		for _, h := range []string{"X-Drop", "Proxy-Authorization", "Proxy-Connection", "Te", "Connection", "User-Agent", "Accept-Encoding"} {
			if v, ok := seen.Header[h]; ok {
				t.Errorf("request keeps %s: %q", h, v)
			}
		}
		if d := l.last(); d.Verdict != Allow || d.Dialled.Port() != uint16(web.port) {
			t.Errorf("decision %+v", d)
		}
	}
}

func TestForwardChecksHostPort80(t *testing.T) {
	for a, want := range map[string]string{"web.test:80": "web.test", "web.test:81": "web.test:81", "[2001:db8::1]:80": "[2001:db8::1]", "192.0.2.1:80": "192.0.2.1"} {
		if got := hostField(mustAuthority(t, a)); got != want {
			t.Errorf("%s: %s, want %s", a, got, want)
		}
	}
}

func TestEveryRequestIsJudged(t *testing.T) {
	web := newWeb(t, hello("web"))
	other := newWeb(t, hello("other"))
	l := newLab(t, Config{Policy: NewPolicy([]Rule{onLoopback(t, "web.test", web.port)}, nil)})
	l.dns.set("web.test", "127.0.0.1")
	l.dns.set("other.test", "127.0.0.1")
	c := l.dial()
	get := func(host string, port int) string {
		return "GET http://" + target(host, port) + "/ HTTP/1.1\r\nHost: " + target(host, port) + "\r\n\r\n"
	}
	c.send(get("web.test", web.port) + get("other.test", other.port) + get("web.test", web.port))
	if _, body := c.response("GET"); body != "web GET / " {
		t.Errorf("first: %q", body)
	}
	res, body := c.response("GET")
	if res.StatusCode != 502 || res.StatusCode == 200 || !strings.Contains(body, "not on the allow list") || res.Header.Get("Proxy-Status") == "" {
		t.Errorf("second: %s %q", res.Status, body)
	}
	if _, body := c.response("GET"); body != "web GET / " {
		t.Errorf("third: %q", body)
	}
	if n := other.accepted.Load(); n != 0 {
		t.Errorf("the undeclared host got %d connections", n)
	}
}

func TestRefuseStatus(t *testing.T) {
	for status, want := range map[int]int{0: 502, 502: 502, 403: 403} {
		l := newLab(t, Config{RefuseStatus: status})
		c := l.dial()
		c.send("HEAD http://a.test/ HTTP/1.1\r\nHost: a.test\r\n\r\n")
		if res, _ := c.response("HEAD"); res.StatusCode != want {
			t.Errorf("RefuseStatus %d: %s", status, res.Status)
		}
	}
	if _, err := New(Config{RefuseStatus: 407}); err == nil {
		t.Error("RefuseStatus 407 is accepted")
	}
}

// The whole answer is read by a client that first sends all it has.
func TestRefusalDuringUpload(t *testing.T) {
	l := newLab(t, Config{})
	for _, network := range []string{"tcp", "unix"} {
		addr := l.addr
		if network == "unix" {
			addr = l.serve("unix", t.TempDir()+"/s")
		}
		c := dialClient(t, network, addr)
		const size = 32 << 20
		c.send(fmt.Sprintf("PUT http://a.test/ HTTP/1.1\r\nHost: a.test\r\nContent-Length: %d\r\n\r\n", size))
		c.send(strings.Repeat("x", size))
		res, body := c.response("PUT")
		if res.StatusCode != 502 || !strings.Contains(body, "not on the allow list") {
			t.Errorf("%s: %s %q", network, res.Status, body)
		}
		c.ended()
	}
}

func TestWebSocketUpgrade(t *testing.T) {
	web := newWeb(t, func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Upgrade") != "websocket" || r.Header.Get("Connection") != "Upgrade" {
			http.Error(w, "no upgrade", 400)
			return
		}
		conn, rw, err := http.NewResponseController(w).Hijack()
		if err != nil {
			t.Error(err)
			return
		}
		defer conn.Close()
		io.WriteString(conn, "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: k\r\n\r\nfirst")
		io.Copy(conn, rw)
		io.WriteString(conn, "last")
	})
	l := newLab(t, Config{Policy: NewPolicy([]Rule{onLoopback(t, "web.test", web.port), mustRule(t, "inside.test", web.port)}, nil)})
	l.dns.set("web.test", "127.0.0.1")
	l.dns.set("inside.test", "127.0.0.1")
	upgrade := func(host string) string {
		return "GET http://" + target(host, web.port) + "/ws HTTP/1.1\r\nHost: x\r\nConnection: keep-alive, Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Key: k\r\n\r\nEARLY"
	}
	c := l.dial()
	c.send(upgrade("web.test"))
	res, err := http.ReadResponse(c.r, nil)
	if err != nil || res.StatusCode != 101 || res.Header.Get("Upgrade") != "websocket" || res.Header.Get("Sec-WebSocket-Accept") != "k" {
		t.Fatalf("%v, %v", res, err)
	}
	if got := c.read(10); got != "firstEARLY" {
		t.Errorf("got %q", got)
	}
	c.send("x")
	c.read(1)
	c.Conn.(*net.TCPConn).CloseWrite()
	if rest, err := io.ReadAll(c.r); string(rest) != "last" || err != nil {
		t.Errorf("after our end: %q, %v", rest, err)
	}
	for host, want := range map[string]string{"inside.test": "destination_ip_prohibited", "other.test": "http_request_denied"} {
		c := l.dial()
		c.send(upgrade(host))
		if res, _ := c.response("GET"); res.StatusCode != 502 || !strings.Contains(res.Header.Get("Proxy-Status"), want) {
			t.Errorf("%s: %s %v", host, res.Status, res.Header)
		}
	}
	if n := web.accepted.Load(); n != 1 {
		t.Errorf("%d connections", n)
	}
}

func TestUpstreamFaults(t *testing.T) {
	rows := []struct{ name, sends, error string }{
		{"nothing", "", "connection_terminated"},
		{"no HTTP", "220 smtp\r\n\r\n", "http_protocol_error"},
		{"endless head", "HTTP/1.1 200 OK\r\nX: " + strings.Repeat("x", 1<<20), "http_protocol_error"},
	}
	for _, r := range rows {
		far := newFar(t, func(c net.Conn) {
			http.ReadRequest(bufio.NewReader(c))
			io.WriteString(c, r.sends)
		})
		l := newLab(t, Config{Policy: NewPolicy([]Rule{onLoopback(t, "far.test", far.port)}, nil)})
		l.dns.set("far.test", "127.0.0.1")
		c := l.dial()
		c.send("GET http://" + target("far.test", far.port) + "/ HTTP/1.1\r\nHost: x\r\n\r\n")
		if res, _ := c.response("GET"); res.StatusCode != 502 || !strings.Contains(res.Header.Get("Proxy-Status"), "error="+r.error) {
			t.Errorf("%s: %s %v", r.name, res.Status, res.Header)
		}
		if l.last().Verdict != Failed {
			t.Errorf("%s: decision %+v", r.name, l.last())
		}
	}
}

// A body that was cut upstream is not a whole one to the client.
func TestCutBodyIsNotWhole(t *testing.T) {
	for _, head := range []string{"Content-Length: 10", "Transfer-Encoding: chunked"} {
		far := newFar(t, func(c net.Conn) {
			http.ReadRequest(bufio.NewReader(c))
			io.WriteString(c, "HTTP/1.1 200 OK\r\n"+head+"\r\n\r\n5\r\nab")
		})
		l := newLab(t, Config{Policy: NewPolicy([]Rule{onLoopback(t, "far.test", far.port)}, nil)})
		l.dns.set("far.test", "127.0.0.1")
		c := l.dial()
		c.send("GET http://" + target("far.test", far.port) + "/ HTTP/1.1\r\nHost: x\r\n\r\n")
		res, err := http.ReadResponse(c.r, nil)
		if err == nil {
			_, err = io.ReadAll(res.Body)
		}
		if err == nil {
			t.Errorf("%s: the client saw a whole body", head)
		}
	}
}
