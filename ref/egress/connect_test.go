package egress

import (
	"encoding/json"
	"io"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"testing"
)

func TestConnectTunnels(t *testing.T) {
	far := newFar(t, echo)
	l := newLab(t, Config{Policy: NewPolicy([]Rule{onLoopback(t, "far.test", far.port)}, nil)})
	l.dns.set("far.test", "127.0.0.1")
	c := l.dial()
	c.connect(target("FAR.test.", far.port))
	c.send("hello")
	if got := c.read(5); got != "hello" {
		t.Errorf("echo %q", got)
	}
	d := l.last()
	want := netip.AddrPortFrom(netip.MustParseAddr("127.0.0.1"), uint16(far.port))
	if d.Verdict != Allow || d.Target() != target("far.test", far.port) || d.Rule != d.Target() || d.Dialled != want {
		t.Errorf("decision %+v", d)
	}
}

func TestConnectRefused(t *testing.T) {
	far := newFar(t, echo)
	l := newLab(t, Config{Policy: NewPolicy([]Rule{onLoopback(t, "far.test", far.port)}, nil)})
	l.dns.set("other.test", "127.0.0.1")
	c := l.dial()
	// What follows is a request for an allowed host: it must not be taken for one.
	c.send("CONNECT other.test:443 HTTP/1.1\r\nHost: other.test:443\r\n\r\n" +
		"GET http://" + target("far.test", far.port) + "/ HTTP/1.1\r\nHost: far.test\r\n\r\n")
	res, body := c.response("CONNECT")
	if res.StatusCode != 403 || res.Status != "403 other.test:443 is not on the allow list" {
		t.Errorf("status %q", res.Status)
	}
	if got := res.Header.Get("Proxy-Status"); got != `egress; error=http_request_denied; details="other.test:443 is not on the allow list"` {
		t.Errorf("Proxy-Status %q", got)
	}
	var got refusal
	if err := json.Unmarshal([]byte(body), &got); err != nil {
		t.Fatalf("body %q: %v", body, err)
	}
	if got.Reason != ReasonRefused || got.Host != "other.test" || got.Port != 443 || got.RulesTotal != 1 ||
		got.Rules[0] != target("far.test", far.port) || !strings.Contains(got.Allow, `{host: "other.test", port: 443}`) {
		t.Errorf("body %+v", got)
	}
	c.ended()
	if n := l.dns.lookups(); n != 0 {
		t.Errorf("%d lookups for a refused host", n)
	}
	if n := far.accepted.Load(); n != 0 || l.count() != 1 {
		t.Errorf("%d connections, %d decisions", n, l.count())
	}
}

func TestConnectFailuresDiffer(t *testing.T) {
	closed, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	port := closed.Addr().(*net.TCPAddr).Port
	closed.Close()
	l := newLab(t, Config{Policy: NewPolicy([]Rule{
		onLoopback(t, "closed.test", port), mustRule(t, "private.test", port), mustRule(t, "gone.test", port),
	}, []Rule{mustDeny(t, "denied.test", port)})})
	l.dns.set("closed.test", "127.0.0.1")
	l.dns.set("private.test", "10.0.0.1,127.0.0.1,::ffff:169.254.169.254")
	rows := []struct {
		host   string
		status int
		error  string
		reason Reason
	}{
		{"closed.test", 502, "connection_refused", ReasonConnRefused},
		{"private.test", 403, "destination_ip_prohibited", ReasonProhibited},
		{"gone.test", 502, "dns_error", ReasonDNSError},
		{"denied.test", 403, "http_request_denied", ReasonDenied},
		{"other.test", 403, "http_request_denied", ReasonRefused},
		{"bad_.test", 400, "http_request_error", ReasonMalformed},
	}
	for _, r := range rows {
		c := l.dial()
		at := target(r.host, port)
		c.send("CONNECT " + at + " HTTP/1.1\r\nHost: " + at + "\r\n\r\n")
		res, body := c.response("CONNECT")
		if res.StatusCode != r.status || !strings.Contains(res.Header.Get("Proxy-Status"), "error="+r.error+";") {
			t.Errorf("%s: %s, %q", r.host, res.Status, res.Header.Get("Proxy-Status"))
		}
		if !strings.Contains(body, `"reason":"`+string(r.reason)+`"`) || l.last().Reason != r.reason {
			t.Errorf("%s: body %s, decision %+v", r.host, body, l.last())
		}
		c.ended()
	}
}

// The safe addresses are tried in turn, the unsafe ones never.
func TestUnsafeAddressesAreDropped(t *testing.T) {
	good := newFarAt(t, "127.0.0.2:0", echo)
	inside := newFarAt(t, "127.0.0.3:"+strings.Split(good.Addr().String(), ":")[1], echo)
	l := newLab(t, Config{Policy: NewPolicy([]Rule{onLoopback(t, "many.test", good.port)}, nil)})
	// Closed on 127.0.0.1, not opened on 127.0.0.3.
	l.dns.set("many.test", "127.0.0.3,127.0.0.1,127.0.0.2")
	c := l.dial()
	c.connect(target("many.test", good.port))
	if got := l.last().Dialled.Addr().String(); got != "127.0.0.2" {
		t.Errorf("dialled %s", got)
	}
	if n := inside.accepted.Load(); n != 0 {
		t.Errorf("the unsafe address got %d connections", n)
	}
}

// One lookup a dial: an answer that changes later is never asked for.
func TestCheckedAddressIsDialled(t *testing.T) {
	good := newFarAt(t, "127.0.0.2:0", echo)
	inside := newFarAt(t, "127.0.0.1:"+strings.Split(good.Addr().String(), ":")[1], echo)
	rule := mustRule(t, "rebind.test", good.port, "127.0.0.2/32")
	l := newLab(t, Config{Policy: NewPolicy([]Rule{rule}, nil)})
	l.dns.set("rebind.test", "127.0.0.2", "127.0.0.1")
	c := l.dial()
	c.connect(target("rebind.test", good.port))
	if n := l.dns.lookups(); n != 1 {
		t.Errorf("%d lookups for one dial", n)
	}
	c = l.dial()
	at := target("rebind.test", good.port)
	c.send("CONNECT " + at + " HTTP/1.1\r\nHost: " + at + "\r\n\r\n")
	if res, _ := c.response("CONNECT"); res.StatusCode != 403 {
		t.Errorf("after the rebind: %s", res.Status)
	}
	if n := inside.accepted.Load(); n != 0 {
		t.Errorf("the private address got %d connections", n)
	}
}

func TestDenyRuleForAddressHoldsBehindNames(t *testing.T) {
	far := newFar(t, echo)
	l := newLab(t, Config{Policy: NewPolicy([]Rule{onLoopback(t, "far.test", far.port)}, []Rule{mustDeny(t, "127.0.0.1", far.port)})})
	l.dns.set("far.test", "127.0.0.1")
	c := l.dial()
	at := target("far.test", far.port)
	c.send("CONNECT " + at + " HTTP/1.1\r\nHost: " + at + "\r\n\r\n")
	if res, _ := c.response("CONNECT"); res.StatusCode != 403 || far.accepted.Load() != 0 {
		t.Errorf("%s, %d connections", res.Status, far.accepted.Load())
	}
}

func TestEarlyBytesBothWays(t *testing.T) {
	far := newFar(t, func(c net.Conn) {
		io.WriteString(c, "220 ready\r\n")
		echo(c)
	})
	l := newLab(t, Config{Policy: NewPolicy([]Rule{onLoopback(t, "far.test", far.port)}, nil)})
	l.dns.set("far.test", "127.0.0.1")
	c := l.dial()
	at := target("far.test", far.port)
	c.send("CONNECT " + at + " HTTP/1.1\r\nHost: " + at + "\r\n\r\nEARLY")
	if res, _ := c.response("CONNECT"); res.StatusCode != 200 || len(res.Header) != 0 {
		t.Errorf("%s with %v", res.Status, res.Header)
	}
	if got := c.read(11 + 5); got != "220 ready\r\nEARLY" {
		t.Errorf("got %q", got)
	}
}

func TestHalfCloseBothWays(t *testing.T) {
	const big = 1 << 20
	fromClient := newFar(t, func(c net.Conn) {
		n, _ := io.Copy(io.Discard, c) // to the client's end
		io.WriteString(c, strings.Repeat("x", int(n)))
	})
	got := make(chan int64, 1)
	fromServer := newFar(t, func(c net.Conn) {
		io.WriteString(c, "bye")
		c.(*net.TCPConn).CloseWrite()
		n, _ := io.Copy(io.Discard, c)
		got <- n
	})
	l := newLab(t, Config{Policy: NewPolicy([]Rule{onLoopback(t, "far.test", fromClient.port), onLoopback(t, "far.test", fromServer.port)}, nil)})
	l.dns.set("far.test", "127.0.0.1")

	c := l.dial()
	c.connect(target("far.test", fromClient.port))
	c.send(strings.Repeat("y", big))
	c.Conn.(*net.TCPConn).CloseWrite()
	if rest, err := io.ReadAll(c.r); len(rest) != big || err != nil {
		t.Errorf("after the client's end: %d bytes, %v", len(rest), err)
	}

	c = l.dial()
	c.connect(target("far.test", fromServer.port))
	if rest, err := io.ReadAll(c.r); string(rest) != "bye" || err != nil {
		t.Errorf("before the server's end: %q, %v", rest, err)
	}
	c.send(strings.Repeat("z", big))
	c.Close()
	if n := <-got; n != big {
		t.Errorf("after the server's end it got %d bytes", n)
	}
}

func TestResetIsNotAnEnd(t *testing.T) {
	far := newFar(t, func(c net.Conn) {
		io.WriteString(c, "half an ans")
		io.ReadFull(c, make([]byte, 2))
		c.(*net.TCPConn).SetLinger(0)
		c.Close()
	})
	l := newLab(t, Config{Policy: NewPolicy([]Rule{onLoopback(t, "far.test", far.port)}, nil)})
	l.dns.set("far.test", "127.0.0.1")
	c := l.dial()
	c.connect(target("far.test", far.port))
	c.read(11)
	c.send("go")
	if _, err := c.r.ReadByte(); err == nil || err == io.EOF {
		t.Errorf("a reset upstream looks like %v", err)
	}
}

func hello(name string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		w.Header().Set("X-Host", r.Host)
		io.WriteString(w, name+" "+r.Method+" "+r.URL.Path+" "+string(body))
	}
}

func TestVirtualServerInTunnelAndAbsoluteForm(t *testing.T) {
	jira := VirtualServer{"jira", hello("jira")}
	l := newLab(t, Config{Virtual: map[Authority]VirtualServer{mustAuthority(t, "jira.mcp.internal:80"): jira, mustAuthority(t, "jira:8081"): jira}})
	for _, at := range []string{"jira.mcp.internal:80", "JIRA.mcp.internal.:80", "jira:8081"} {
		c := l.dial()
		c.connect(at)
		for range 2 {
			c.send("POST /mcp HTTP/1.1\r\nHost: " + at + "\r\nContent-Length: 2\r\n\r\nhi")
			if res, body := c.response("POST"); res.StatusCode != 200 || body != "jira POST /mcp hi" || res.Header.Get("X-Host") != at {
				t.Errorf("tunnel to %s: %s %q %v", at, res.Status, body, res.Header)
			}
		}
		if d := l.last(); d.Server != "jira" || d.Verdict != Allow || d.Rule != "" {
			t.Errorf("decision %+v", d)
		}
		c = l.dial()
		for range 2 {
			c.send("POST http://" + at + "/mcp HTTP/1.1\r\nHost: evil.test\r\nContent-Length: 2\r\n\r\nhi")
			if res, body := c.response("POST"); res.StatusCode != 200 || body != "jira POST /mcp hi" || strings.Contains(res.Header.Get("X-Host"), "evil") {
				t.Errorf("absolute form to %s: %s %q %v", at, res.Status, body, res.Header)
			}
		}
	}
	if n := l.dns.lookups(); n != 0 {
		t.Errorf("%d lookups for servers", n)
	}
	c := l.dial()
	c.send("CONNECT jira:8082 HTTP/1.1\r\nHost: jira:8082\r\n\r\n")
	if res, _ := c.response("CONNECT"); res.StatusCode != 403 {
		t.Errorf("another port: %s", res.Status)
	}
}

func TestLoopbackTargets(t *testing.T) {
	far := newFar(t, echo)
	l := newLab(t, Config{Loopback: map[uint16]VirtualServer{8085: {"jira", hello("jira")}}})
	for _, host := range []string{"127.0.0.1", "[::1]", "localhost", "LOCALHOST.", "[::ffff:127.0.0.1]"} {
		c := l.dial()
		c.send("GET http://" + target(host, 8085) + "/x HTTP/1.1\r\nHost: a\r\n\r\n")
		if _, body := c.response("GET"); body != "jira GET /x " {
			t.Errorf("%s: %q", host, body)
		}
		c = l.dial()
		c.send("CONNECT " + target(host, far.port) + " HTTP/1.0\r\n\r\n")
		if res, _ := c.response("CONNECT"); res.StatusCode != 403 || !strings.Contains(res.Status, "loopback") {
			t.Errorf("%s: %s", host, res.Status)
		}
	}
	for _, host := range []string{"127.0.0.2", "0.0.0.0", "[::]", "sub.localhost"} {
		c := l.dial()
		c.send("CONNECT " + target(host, 8085) + " HTTP/1.0\r\n\r\n")
		if res, _ := c.response("CONNECT"); res.StatusCode != 403 {
			t.Errorf("%s: %s", host, res.Status)
		}
	}
	if far.accepted.Load() != 0 || l.dns.lookups() != 0 {
		t.Errorf("%d connections, %d lookups", far.accepted.Load(), l.dns.lookups())
	}
}
