package egress

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/netip"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"bridgecheck/ref/egress/internal/vectors"
)

func TestDefaults(t *testing.T) {
	got := Limits{}.withDefaults()
	want := Limits{1024, 64 << 10, 128, 10 * time.Second, 10 * time.Minute, 10 * time.Second}
	if got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
	if got := want.withDefaults(); got != want {
		t.Errorf("set limits change: %+v", got)
	}
}

// Edges of the head limits: what just fits is served, one more is not.
func TestHeadLimitEdges(t *testing.T) {
	l := newLab(t, Config{Limits: Limits{HeadBytes: 1000, HeadFields: 10}})
	head := func(fields, size int) string {
		s := "GET http://a.test/ HTTP/1.1\r\nHost: a.test\r\n" + strings.Repeat("X: y\r\n", fields-2) + "P: "
		return s + strings.Repeat("p", size-len(s)-4) + "\r\n\r\n"
	}
	for _, r := range []struct{ fields, size, status int }{
		{10, 500, 502}, {11, 500, 431}, {10, 1000, 502}, {10, 1001, 431},
	} {
		c := l.dial()
		c.send(head(r.fields, r.size))
		if res, _ := c.response("GET"); res.StatusCode != r.status {
			t.Errorf("%d fields, %d bytes: %s, want %d", r.fields, r.size, res.Status, r.status)
		}
	}
}

// Dripping keeps no slot: the deadline is one for the whole head, on the first
// request of a connection and on later ones.
func TestDrippingHead(t *testing.T) {
	l := newLab(t, Config{Limits: Limits{HeadTimeout: 300 * time.Millisecond}})
	for _, before := range []int{0, 1} {
		c := l.dial()
		for range before {
			c.send(vectors.Get("http://a.test/"))
			c.response("GET")
		}
		stop := make(chan struct{})
		go func() {
			for _, b := range "GET http://a.test/" + strings.Repeat("x", 10000) {
				select {
				case <-stop:
					return
				case <-time.After(10 * time.Millisecond):
					io.WriteString(c.Conn, string(b))
				}
			}
		}()
		res, _ := c.response("GET")
		if res.StatusCode != 408 || l.last().Reason != ReasonHeadTimeout {
			t.Errorf("after %d requests: %s", before, res.Status)
		}
		close(stop)
	}
}

func TestConnectionLimit(t *testing.T) {
	const most = 5
	far := newFar(t, echo)
	l := newLab(t, Config{Policy: NewPolicy([]Rule{onLoopback(t, "far.test", far.port)}, nil), Limits: Limits{Connections: most}})
	l.dns.set("far.test", "127.0.0.1")
	var open []*client
	for range most {
		c := l.dial()
		c.connect(target("far.test", far.port))
		open = append(open, c)
	}
	for range 3 {
		c := l.dial()
		c.send(vectors.Connect(target("far.test", far.port))) // before the answer, so that a reset would lose it
		res, body := c.response("GET")
		if res.StatusCode != 503 || !strings.Contains(res.Header.Get("Proxy-Status"), "error=connection_limit_reached") || !strings.Contains(body, "all 5") {
			t.Errorf("past the limit: %s %s", res.Status, body)
		}
		c.ended()
	}
	open[0].Close()
	eventually(t, "a slot is free", func() bool {
		c := l.dial()
		defer c.Close()
		c.send(vectors.Connect(target("far.test", far.port)))
		res, _ := c.response("CONNECT")
		return res.StatusCode == 200
	})
	for _, c := range open[1:] {
		c.send("x")
		c.read(1)
	}
}

// The idle limit is for both directions together.
func TestIdleTunnel(t *testing.T) {
	const idle = 300 * time.Millisecond
	far := newFar(t, func(c net.Conn) {
		c.Read(make([]byte, 1))
		for range 20 { // one way, for longer than the limit
			time.Sleep(idle / 5)
			io.WriteString(c, "x")
		}
		io.Copy(io.Discard, c)
	})
	l := newLab(t, Config{Policy: NewPolicy([]Rule{onLoopback(t, "far.test", far.port)}, nil), Limits: Limits{IdleTimeout: idle}})
	l.dns.set("far.test", "127.0.0.1")
	c := l.dial()
	c.connect(target("far.test", far.port))
	c.send("x")
	if got := c.read(20); got != strings.Repeat("x", 20) {
		t.Errorf("got %q", got)
	}
	if _, err := c.r.ReadByte(); err == nil || os.IsTimeout(err) {
		t.Errorf("the silent tunnel lives on: %v", err)
	}
}

func TestIdleConnectionEnds(t *testing.T) {
	l := newLab(t, Config{Limits: Limits{IdleTimeout: 100 * time.Millisecond}})
	c := l.dial()
	c.send(vectors.Get("http://a.test/"))
	c.response("GET")
	c.ended() // silently: an answer would be taken for the next request's
}

func TestIdleForward(t *testing.T) {
	silent := newFar(t, func(c net.Conn) { io.Copy(io.Discard, c) })
	l := newLab(t, Config{Policy: NewPolicy([]Rule{onLoopback(t, "far.test", silent.port)}, nil), Limits: Limits{IdleTimeout: 100 * time.Millisecond}})
	l.dns.set("far.test", "127.0.0.1")
	c := l.dial()
	c.send(vectors.Get("http://" + target("far.test", silent.port) + "/"))
	if res, _ := c.response("GET"); res.StatusCode != 504 || !strings.Contains(res.Header.Get("Proxy-Status"), "http_response_timeout") {
		t.Errorf("%s %v", res.Status, res.Header)
	}
}

type hangingDNS struct{}

func (hangingDNS) LookupNetIP(ctx context.Context, _, host string) ([]netip.Addr, error) {
	<-ctx.Done()
	return nil, &net.DNSError{Err: ctx.Err().Error(), Name: host, IsTimeout: true}
}

func TestLookupTimeout(t *testing.T) {
	l := newLab(t, Config{Resolver: hangingDNS{}, Policy: NewPolicy([]Rule{mustRule(t, "a.test", 443)}, nil), Limits: Limits{ConnectTimeout: 50 * time.Millisecond}})
	c := l.dial()
	c.send(vectors.Connect("a.test:443"))
	if res, _ := c.response("CONNECT"); res.StatusCode != 504 || l.last().Reason != ReasonDNSTimeout || l.last().Verdict != Failed {
		t.Errorf("%s, %+v", res.Status, l.last())
	}
}

// A listener with a full backlog drops SYNs, as a black hole does.
func TestConnectTimeout(t *testing.T) {
	port := fullBacklog(t)
	l := newLab(t, Config{Policy: NewPolicy([]Rule{onLoopback(t, "hole.test", port)}, nil), Limits: Limits{ConnectTimeout: 200 * time.Millisecond}})
	l.dns.set("hole.test", "127.0.0.1")
	c := l.dial()
	c.send(vectors.Connect(target("hole.test", port)))
	if res, _ := c.response("CONNECT"); res.StatusCode != 504 || l.last().Reason != ReasonConnTimeout {
		t.Errorf("%s, %+v", res.Status, l.last())
	}
	// A good address behind a black hole is reached all the same.
	good := newFarAt(t, fmt.Sprintf("127.0.0.2:%d", port), echo)
	l.dns.set("hole.test", "127.0.0.1,127.0.0.2")
	slow := newLab(t, Config{Resolver: l.dns, Policy: NewPolicy([]Rule{onLoopback(t, "hole.test", port)}, nil)})
	c = slow.dial()
	c.connect(target("hole.test", port))
	if good.accepted.Load() != 1 {
		t.Error("the good address was not dialled")
	}
}

func fullBacklog(t *testing.T) int {
	fd, err := syscall.Socket(syscall.AF_INET, syscall.SOCK_STREAM|syscall.SOCK_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { syscall.Close(fd) })
	if err := syscall.Bind(fd, &syscall.SockaddrInet4{Addr: [4]byte{127, 0, 0, 1}}); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Listen(fd, 0); err != nil {
		t.Fatal(err)
	}
	sa, err := syscall.Getsockname(fd)
	if err != nil {
		t.Fatal(err)
	}
	port := sa.(*syscall.SockaddrInet4).Port
	for range 8 {
		c, err := net.DialTimeout("tcp", fmt.Sprintf("127.0.0.1:%d", port), 100*time.Millisecond)
		if err != nil {
			return port
		}
		t.Cleanup(func() { c.Close() })
	}
	t.Skip("this kernel's backlog cannot be filled")
	return 0
}
