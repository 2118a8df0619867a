package program

import (
	"io"
	"net"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/LeGambiArt/go-arapuca/behaviour"
)

// TestHead has a pair at every edge of the request that the proxy takes.
func TestHead(t *testing.T) {
	fill := func(total int) string {
		const start, end = "CONNECT a.example:443 HTTP/1.1\r\nX: ", "\r\n\r\n"
		return start + strings.Repeat("x", total-len(start)-len(end)) + end
	}
	for _, tt := range []struct {
		head, host string
		port       uint16
	}{
		{"CONNECT a.example:443 HTTP/1.1\r\n\r\n", "a.example", 443},
		{"connect A.Example.:1 HTTP/1.0\r\nHost: x\r\n\r\n", "a.example", 1},
		{fill(2048), "a.example", 443},
		{fill(2049), "", 0},
		{"CONNECT a.example:65535 HTTP/1.1\r\n\r\n", "a.example", 65535},
		{"CONNECT a.example:65536 HTTP/1.1\r\n\r\n", "", 0},
		{"CONNECT a.example:0 HTTP/1.1\r\n\r\n", "", 0},
		{"CONNECT a.example HTTP/1.1\r\n\r\n", "", 0},
		{"CONNECT a.example:443 HTTP/2.0\r\n\r\n", "", 0},
		{"CONNECT a.example:443 HTTP/1.1 x\r\n\r\n", "", 0},
		{"CONNECT a..example:443 HTTP/1.1\r\n\r\n", "", 0},
		{"CONNECT .example:443 HTTP/1.1\r\n\r\n", "", 0},
		{"CONNECT :443 HTTP/1.1\r\n\r\n", "", 0},
		{"CONNECT [2001:DB8::0:1]:443 HTTP/1.1\r\n\r\n", "2001:db8::1", 443},
		{"CONNECT [::1%lo]:443 HTTP/1.1\r\n\r\n", "", 0},
		{"CONNECT [127.0.0.1]:443 HTTP/1.1\r\n\r\n", "", 0},
		{"CONNECT ::1:443 HTTP/1.1\r\n\r\n", "", 0},
		{"CONNECT 127.0.0.1:443 HTTP/1.1\r\n\r\n", "127.0.0.1", 443},
		{"CONNECT 127.0.0.1.:443 HTTP/1.1\r\n\r\n", "", 0},
		{"CONNECT a.example.:443 HTTP/1.1\r\n\r\n", "a.example", 443},
		{"CONNECT a.example..:443 HTTP/1.1\r\n\r\n", "", 0},
		{"CONNECT a.example:+443 HTTP/1.1\r\n\r\n", "", 0},
		{"CONNECT a.example:443  HTTP/1.1\r\n\r\n", "", 0},
		{"\x16\x03\x01", "", 0},
		{"CONNECT a_b.example:443 HTTP/1.1\r\n\r\n", "", 0},
		{"GET http://a.example/ HTTP/1.1\r\n\r\n", "", 0},
		{"CONNECT a.example:443 HTTP/1.1\n\n", "", 0}, // it never ends
	} {
		client, server := tcpPair(t)
		if _, err := io.WriteString(client, tt.head); err != nil {
			t.Fatal(err)
		}
		_ = client.(*net.TCPConn).CloseWrite()
		host, port, err := readConnect(server)
		client.Close()
		server.Close()
		if host != tt.host || port != tt.port || (err == nil) != (tt.host != "") {
			t.Errorf("%.60q: %s %d %v", tt.head, host, port, err)
		}
	}
}

func TestRules(t *testing.T) {
	for _, tt := range []struct {
		rule, host string
		port       uint16
		matches    bool
	}{
		{"a.example:443", "a.example", 443, true},
		{"a.example:443", "a.example", 444, false},
		{"a.example:443", "b.a.example", 443, false},
		{".a.example:443", "b.a.example", 443, true},
		{".a.example:443", "a.example", 443, true},
		{".a.example:443", "ba.example", 443, false},
		{"*.a.example:443", "b.a.example", 443, true},
		{"A.Example.:443", "a.example", 443, true},
	} {
		r, err := declared(tt.rule)
		if err != nil || r.matches(tt.host, tt.port) != tt.matches {
			t.Errorf("%s on %s:%d: %v", tt.rule, tt.host, tt.port, err)
		}
	}
	for _, bad := range []string{"a.example", "a.example:0", "a.example:65536", "*:443", "*.:443", ":443", "a_b:443", "a..b:443", "[::1]:443", "http://a:443", strings.Repeat("a", 254) + ":443"} {
		if _, err := declared(bad); err == nil {
			t.Errorf("%q was taken", bad)
		}
	}
	t.Setenv(behaviour.Variable, behaviour.RulesRaw)
	if r, err := raw("*.A.example.:443"); err != nil || r.matches("b.a.example", 443) {
		t.Errorf("%v: a rule that was to be taken as it is was not", err)
	}
}

func TestAddresses(t *testing.T) {
	for _, tt := range []struct {
		rule, address string
		ok            bool
	}{
		{"a.example", "203.0.113.1", true},
		{"a.example", "127.0.0.1", false},
		{"a.example", "10.0.0.1", false},
		{"a.example", "9.255.255.255", true},
		{"a.example", "100.127.255.255", false},
		{"a.example", "100.128.0.0", true},
		{"a.example", "::ffff:127.0.0.1", false},
		{"a.example", "2001:db8::1", true},
		{"a.example", "fd00::1", false},
		{"127.0.0.1", "127.0.0.1", true},
		{"127.0.0.1", "127.0.0.2", false},
		{"localhost", "127.0.0.1", true},
		{"localhost", "10.0.0.1", false},
	} {
		if r := (rule{tt.rule, 1}); r.permits(netip.MustParseAddr(tt.address)) != tt.ok {
			t.Errorf("%s on %s: not %v", tt.address, tt.rule, tt.ok)
		}
	}
	t.Setenv(behaviour.Variable, behaviour.LoopbackRefused)
	if (rule{"localhost", 1}).permits(netip.MustParseAddr("127.0.0.1")) {
		t.Error("loopback was to be refused")
	}
}

// TestOneWayIdle: what a release does to a stream that flows one way.
func TestOneWayIdle(t *testing.T) {
	for _, tt := range []struct {
		chosen string
		cut    bool
	}{{"", false}, {"idle-one-way=100ms", true}} {
		t.Setenv(behaviour.Variable, tt.chosen)
		client, a := tcpPair(t)
		server, b := tcpPair(t)
		done := make(chan struct{})
		go func() { splice(a, b); close(done) }()
		for range 6 { // longer than the limit
			if _, err := server.Write([]byte(".")); err != nil {
				t.Fatal(err)
			}
			if _, err := io.ReadFull(client, make([]byte, 1)); err != nil {
				t.Fatal(err)
			}
			<-time.After(30 * time.Millisecond)
		}
		_ = server.SetReadDeadline(time.Now().Add(20 * time.Millisecond))
		_, err := server.Read(make([]byte, 1))
		if (err == io.EOF) != tt.cut {
			t.Errorf("%q: the silent direction gave %v", tt.chosen, err)
		}
		client.Close()
		server.Close()
		<-done
		a.Close()
		b.Close()
	}
}

func tcpPair(t *testing.T) (net.Conn, net.Conn) {
	t.Helper()
	l, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	a, err := net.Dial("tcp4", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	b, err := l.Accept()
	if err != nil {
		t.Fatal(err)
	}
	return a, b
}
