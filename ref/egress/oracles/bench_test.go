package oracles

import (
	"context"
	"encoding/binary"
	"io"
	"net"
	"net/http"
	"net/netip"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/elazarl/goproxy"

	"bridgecheck/ref/egress"
	"bridgecheck/ref/egress/internal/vectors"
)

// The benchmarks take turns: an iteration does the same thing directly, through
// our proxy and through goproxy, all on loopback. They report the time of each
// and its quotient by the direct one, which is what a busy machine can compare.

// way is one of the three.
type way struct {
	name string
	// addr is listened on, target is asked for by CONNECT if it is not empty.
	addr, target string
	took         time.Duration
}

func (w *way) open(b *testing.B) *net.TCPConn {
	c, err := net.Dial("tcp", w.addr)
	if err != nil {
		b.Fatal(err)
	}
	if w.target != "" {
		io.WriteString(c, vectors.Connect(w.target))
		for seen := ""; !strings.HasSuffix(seen, "\r\n\r\n"); {
			one := make([]byte, 1)
			if _, err := io.ReadFull(c, one); err != nil {
				b.Fatalf("%s: %v after %q", w.name, err, seen)
			}
			seen += string(one)
		}
	}
	return c.(*net.TCPConn)
}

// ways lead to the same far side.
func ways(b *testing.B, far func(net.Conn)) []*way {
	at := listen(b, func(ln net.Listener) error {
		for {
			c, err := ln.Accept()
			if err != nil {
				return err
			}
			go func() { defer c.Close(); far(c) }()
		}
	})
	port := netip.MustParseAddrPort(at).Port()
	rule, err := egress.ParseRule("far.test", int(port), []string{"127.0.0.1/32"})
	if err != nil {
		b.Fatal(err)
	}
	ours, err := egress.New(egress.Config{Policy: egress.NewPolicy([]egress.Rule{rule}, nil), Resolver: machine{}})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { ours.Close() })
	theirs := goproxy.NewProxyHttpServer()
	theirs.Logger = quiet{}
	return []*way{
		{name: "direct", addr: at},
		{name: "ours", addr: listen(b, ours.Serve), target: "far.test:" + strconv.Itoa(int(port))},
		{name: "goproxy", addr: listen(b, (&http.Server{Handler: theirs}).Serve), target: at},
	}
}

// machine is a resolver to which every name is this machine.
type machine struct{}

func (machine) LookupNetIP(context.Context, string, string) ([]netip.Addr, error) {
	return []netip.Addr{netip.MustParseAddr("127.0.0.1")}, nil
}

func listen(b *testing.B, serve func(net.Listener) error) string {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { ln.Close() })
	go serve(ln)
	return ln.Addr().String()
}

// takeTurns runs do once for each way an iteration, each time another one first.
func takeTurns(b *testing.B, list []*way, do func(i int)) {
	n := 0
	for b.Loop() {
		for k := range list {
			i := (n + k) % len(list)
			begin := time.Now()
			do(i)
			list[i].took += time.Since(begin)
		}
		n++
	}
	b.ReportMetric(0, "ns/op") // that of all together says nothing
	for _, w := range list {
		b.ReportMetric(float64(w.took.Microseconds())/float64(n), "µs-"+w.name)
		b.ReportMetric(float64(w.took)/float64(list[0].took), w.name+"/direct")
	}
}

func opened(b *testing.B, list []*way) []*net.TCPConn {
	var conns []*net.TCPConn
	for _, w := range list {
		c := w.open(b)
		b.Cleanup(func() { c.Close() })
		conns = append(conns, c)
	}
	return conns
}

// BenchmarkStream is 32 MiB from the far side, asked for so that nothing is on
// its way beforehand.
func BenchmarkStream(b *testing.B) {
	const size = 32 << 20
	list := ways(b, func(c net.Conn) {
		piece := make([]byte, 256<<10)
		for ask := make([]byte, 8); ; {
			if _, err := io.ReadFull(c, ask); err != nil {
				return
			}
			for left := binary.BigEndian.Uint64(ask); left > 0; left -= uint64(len(piece)) {
				if _, err := c.Write(piece); err != nil {
					return
				}
			}
		}
	})
	conns := opened(b, list)
	buf := make([]byte, 256<<10)
	takeTurns(b, list, func(i int) {
		conns[i].Write(binary.BigEndian.AppendUint64(nil, size))
		for got := 0; got < size; got += len(buf) {
			if _, err := io.ReadFull(conns[i], buf); err != nil {
				b.Fatal(err)
			}
		}
	})
}

// BenchmarkRoundTrip is 64 bytes there and back in an open tunnel.
func BenchmarkRoundTrip(b *testing.B) {
	list := ways(b, func(c net.Conn) { io.Copy(c, c) })
	conns := opened(b, list)
	buf := make([]byte, 64)
	takeTurns(b, list, func(i int) {
		conns[i].Write(buf)
		if _, err := io.ReadFull(conns[i], buf); err != nil {
			b.Fatal(err)
		}
	})
}

// BenchmarkNewTunnel is a connection, with CONNECT where there is a proxy, and
// its end.
func BenchmarkNewTunnel(b *testing.B) {
	list := ways(b, func(c net.Conn) { io.Copy(c, c) })
	takeTurns(b, list, func(i int) {
		c := list[i].open(b)
		c.SetLinger(0) // else the ports run out
		c.Close()
	})
}
