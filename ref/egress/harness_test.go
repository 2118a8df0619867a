package egress

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// patience bounds every wait of a test; nothing asserts that it was short.
const patience = 10 * time.Second

// fakeDNS answers from a table and counts. A name may have several answers, one
// lookup each, the last for good.
type fakeDNS struct {
	mu      sync.Mutex
	answers map[string][][]netip.Addr
	asked   []string
}

func (f *fakeDNS) LookupNetIP(ctx context.Context, _, host string) ([]netip.Addr, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.asked = append(f.asked, host)
	list := f.answers[host]
	if len(list) == 0 {
		return nil, &net.DNSError{Err: "no such host", Name: host, IsNotFound: true}
	}
	if len(list) > 1 {
		f.answers[host] = list[1:]
	}
	return list[0], nil
}

func (f *fakeDNS) lookups() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return len(f.asked)
}

// set makes name resolve to the addresses of one answer after another; an
// answer is addresses with commas.
func (f *fakeDNS) set(name string, answers ...string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.answers == nil {
		f.answers = map[string][][]netip.Addr{}
	}
	f.answers[name] = nil
	for _, answer := range answers {
		var list []netip.Addr
		for s := range strings.SplitSeq(answer, ",") {
			list = append(list, netip.MustParseAddr(s))
		}
		f.answers[name] = append(f.answers[name], list)
	}
}

// lab is a proxy with scripted names, and what it decided.
type lab struct {
	t     *testing.T
	proxy *Proxy
	addr  string
	dns   *fakeDNS

	mu        sync.Mutex
	decisions []Decision
}

func newLab(t *testing.T, cfg Config) *lab {
	t.Helper()
	l := &lab{t: t, dns: &fakeDNS{}}
	if cfg.Resolver == nil {
		cfg.Resolver = l.dns
	}
	cfg.OnDecision = func(d Decision) {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.decisions = append(l.decisions, d)
	}
	p, err := New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	l.proxy = p
	l.addr = l.serve("tcp", "127.0.0.1:0")
	t.Cleanup(func() { p.Close() })
	return l
}

func (l *lab) serve(network, address string) string {
	l.t.Helper()
	ln, err := net.Listen(network, address)
	if err != nil {
		l.t.Fatal(err)
	}
	done := make(chan error, 1)
	go func() { done <- l.proxy.Serve(ln) }()
	l.t.Cleanup(func() {
		l.proxy.Close()
		if err := <-done; err != nil {
			l.t.Errorf("serve: %v", err)
		}
	})
	return ln.Addr().String()
}

func (l *lab) last() Decision {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.decisions) == 0 {
		return Decision{}
	}
	return l.decisions[len(l.decisions)-1]
}

func (l *lab) count() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.decisions)
}

// dial connects to the proxy.
func (l *lab) dial() *client {
	l.t.Helper()
	return dialClient(l.t, "tcp", l.addr)
}

func dialClient(t *testing.T, network, addr string) *client {
	t.Helper()
	c, err := net.Dial(network, addr)
	if err != nil {
		t.Fatal(err)
	}
	c.SetDeadline(time.Now().Add(patience))
	t.Cleanup(func() { c.Close() })
	return &client{t: t, Conn: c, r: bufio.NewReader(c)}
}

// client speaks bytes, so that it can be wrong.
type client struct {
	t *testing.T
	net.Conn
	r *bufio.Reader
}

func (c *client) send(s string) {
	c.t.Helper()
	if _, err := io.WriteString(c.Conn, s); err != nil {
		c.t.Fatalf("send: %v", err)
	}
}

// response reads one answer with its body.
func (c *client) response(method string) (*http.Response, string) {
	c.t.Helper()
	res, err := http.ReadResponse(c.r, &http.Request{Method: method})
	if err != nil {
		c.t.Fatalf("read answer: %v", err)
	}
	if method == "CONNECT" && res.StatusCode == 200 {
		return res, ""
	}
	body, err := io.ReadAll(res.Body)
	if err != nil {
		c.t.Fatalf("read body of %s: %v", res.Status, err)
	}
	return res, string(body)
}

// connect opens a tunnel or fails the test.
func (c *client) connect(target string) {
	c.t.Helper()
	c.send("CONNECT " + target + " HTTP/1.1\r\nHost: " + target + "\r\n\r\n")
	if res, body := c.response("CONNECT"); res.StatusCode != 200 {
		c.t.Fatalf("CONNECT %s: %s %s", target, res.Status, body)
	}
}

// ended wants the connection to be closed without another byte.
func (c *client) ended() {
	c.t.Helper()
	rest, err := io.ReadAll(c.r)
	if len(rest) > 0 || err != nil {
		c.t.Fatalf("after the answer: %q, %v", rest, err)
	}
}

func (c *client) read(n int) string {
	c.t.Helper()
	b := make([]byte, n)
	if got, err := io.ReadFull(c.r, b); err != nil {
		c.t.Fatalf("read %d bytes: got %q, %v", n, b[:got], err)
	}
	return string(b)
}

// echo returns what it gets, until the end.
func echo(c net.Conn) { io.Copy(c, c) }

// onLoopback is a rule for a name that stands for the machine in these tests.
func onLoopback(t testing.TB, host string, port int) Rule {
	return mustRule(t, host, port, "127.0.0.1/32", "127.0.0.2/32", "::1/128")
}

// eventually waits for a fact.
func eventually(t *testing.T, what string, fact func() bool) {
	t.Helper()
	for end := time.Now().Add(patience); !fact(); time.Sleep(2 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("never: %s", what)
		}
	}
}

func target(host string, port int) string { return fmt.Sprintf("%s:%d", host, port) }
