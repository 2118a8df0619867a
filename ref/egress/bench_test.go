package egress

import (
	"io"
	"net"
	"testing"

	"bridgecheck/ref/egress/internal/vectors"
)

// benchLab is a proxy in front of far, both on loopback.
func benchLab(b *testing.B, f func(net.Conn)) (proxy, far, request string) {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		b.Fatal(err)
	}
	go func() {
		for {
			c, err := ln.Accept()
			if err != nil {
				return
			}
			go func() { defer c.Close(); f(c) }()
		}
	}()
	dns := &fakeDNS{}
	dns.set("far.test", "127.0.0.1")
	port := ln.Addr().(*net.TCPAddr).Port
	p, err := New(Config{Policy: NewPolicy([]Rule{onLoopback(b, "far.test", port)}, nil), Resolver: dns})
	if err != nil {
		b.Fatal(err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		b.Fatal(err)
	}
	go p.Serve(l)
	b.Cleanup(func() { p.Close(); ln.Close() })
	return l.Addr().String(), ln.Addr().String(), vectors.Connect(target("far.test", port))
}

func benchDial(b *testing.B, addr, request string) net.Conn {
	c, err := net.Dial("tcp", addr)
	if err != nil {
		b.Fatal(err)
	}
	if request != "" {
		io.WriteString(c, request)
		if _, err := io.ReadFull(c, make([]byte, len(established))); err != nil {
			b.Fatal(err)
		}
	}
	return c
}

// Each benchmark runs direct and through the proxy, so that the ratio is of one
// machine at one time.
func both(b *testing.B, f func(net.Conn), run func(b *testing.B, dial func() net.Conn)) {
	proxy, far, request := benchLab(b, f)
	b.Run("direct", func(b *testing.B) { run(b, func() net.Conn { return benchDial(b, far, "") }) })
	b.Run("proxy", func(b *testing.B) { run(b, func() net.Conn { return benchDial(b, proxy, request) }) })
}

func BenchmarkStream(b *testing.B) {
	const piece = 1 << 20
	source := func(c net.Conn) {
		buf := make([]byte, piece)
		for {
			if _, err := c.Write(buf); err != nil {
				return
			}
		}
	}
	both(b, source, func(b *testing.B, dial func() net.Conn) {
		c := dial()
		defer c.Close()
		buf := make([]byte, piece)
		b.SetBytes(piece)
		for b.Loop() {
			if _, err := io.ReadFull(c, buf); err != nil {
				b.Fatal(err)
			}
		}
	})
}

func BenchmarkRoundTrip(b *testing.B) {
	both(b, echo, func(b *testing.B, dial func() net.Conn) {
		c := dial()
		defer c.Close()
		buf := make([]byte, 64)
		for b.Loop() {
			c.Write(buf)
			if _, err := io.ReadFull(c, buf); err != nil {
				b.Fatal(err)
			}
		}
	})
}

func BenchmarkNewTunnel(b *testing.B) {
	both(b, echo, func(b *testing.B, dial func() net.Conn) {
		for b.Loop() {
			c := dial()
			c.(*net.TCPConn).SetLinger(0) // else the ports run out
			c.Close()
		}
	})
}
