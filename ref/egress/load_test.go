package egress

import (
	"fmt"
	"io"
	"net"
	"os"
	"runtime"
	"strconv"
	"sync"
	"testing"
	"time"

	"bridgecheck/ref/egress/internal/vectors"
)

// usage is what a proxy must not keep.
type usage struct {
	descriptors, goroutines int
	heap                    uint64
}

func measure(t *testing.T) usage {
	runtime.GC()
	runtime.GC() // the second empties the pools
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return usage{openFDs(t), runtime.NumGoroutine(), m.HeapAlloc}
}

// settle waits until descriptors and goroutines are where they were, and
// compares the heap.
func settle(t *testing.T, before usage) {
	t.Helper()
	eventually(t, "descriptors and goroutines are back", func() bool {
		now := measure(t)
		return now.descriptors <= before.descriptors && now.goroutines <= before.goroutines
	})
	if now := measure(t); now.heap > before.heap+2<<20 {
		t.Errorf("heap grew from %d to %d KiB", before.heap>>10, now.heap>>10)
	}
}

// size takes a count from the environment, so that the nightly run can be long.
func size(t *testing.T, name string, short int) int {
	n, err := strconv.Atoi(os.Getenv(name))
	if err != nil {
		return short
	}
	t.Logf("%s=%d", name, n)
	return n
}

// EGRESS_CYCLES=100000 makes it the full load.
func TestConnectCloseCyclesLeaveNothing(t *testing.T) {
	cycles := size(t, "EGRESS_CYCLES", 1000)
	far := newFar(t, echo)
	l := newLab(t, Config{Policy: NewPolicy([]Rule{onLoopback(t, "far.test", far.port)}, nil)})
	l.dns.set("far.test", "127.0.0.1")
	l.proxy.cfg.OnDecision = func(Decision) {}
	unix := l.serve("unix", t.TempDir()+"/proxy")
	request := vectors.Connect(target("far.test", far.port)) + "x"
	run := func(n int) {
		var wg sync.WaitGroup
		for w := range 8 {
			wg.Go(func() {
				for i := w; i < n; i += 8 {
					if err := cycle(unix, request, i%3); err != nil {
						t.Error(err)
						return
					}
				}
			})
		}
		wg.Wait()
	}
	run(200) // pools and tables get their size
	eventually(t, "the warm-up is over", func() bool { return l.proxy.connections() == 0 })
	before := measure(t)
	run(cycles)
	l.dns.mu.Lock()
	l.dns.asked = nil
	l.dns.mu.Unlock()
	settle(t, before)
}

// cycle opens a tunnel and ends it in one of three ways.
func cycle(addr, request string, how int) error {
	c, err := net.Dial("unix", addr)
	if err != nil {
		return err
	}
	defer c.Close()
	c.SetDeadline(time.Now().Add(patience))
	if _, err := io.WriteString(c, request); err != nil {
		return err
	}
	if how == 0 {
		return nil // gone before the answer
	}
	if _, err := io.ReadFull(c, make([]byte, len(established)+1)); err != nil {
		return fmt.Errorf("read answer: %w", err)
	}
	if how == 1 {
		return nil
	}
	c.(*net.UnixConn).CloseWrite()
	_, err = io.Copy(io.Discard, c)
	return err
}

// EGRESS_HALF_OPEN=2000 makes it the full load: clients that begin a head and
// go no further, ended by the deadline; and clients that leave a tunnel half
// closed, ended by the idle limit.
func TestHalfOpenClientsLeaveNothing(t *testing.T) {
	n := size(t, "EGRESS_HALF_OPEN", 100)
	round := func() {
		hold := make(chan struct{})
		far := newFar(t, func(c net.Conn) { io.Copy(io.Discard, c); <-hold })
		l := newLab(t, Config{
			Policy: NewPolicy([]Rule{onLoopback(t, "far.test", far.port)}, nil),
			Limits: Limits{Connections: n, HeadTimeout: time.Second, IdleTimeout: time.Second},
		})
		l.dns.set("far.test", "127.0.0.1")
		var wg sync.WaitGroup
		for i := range n {
			wg.Go(func() {
				if err := halfOpen(l.addr, target("far.test", far.port), i%2 == 0); err != nil {
					t.Errorf("client %d: %v", i, err)
				}
			})
		}
		wg.Wait()
		close(hold)
		eventually(t, "no connection is left", func() bool { return l.proxy.connections() == 0 })
		l.proxy.Close()
		far.Close()
		l.decisions, l.dns.asked, l.proxy.conns = nil, nil, nil
	}
	round() // pools and tables get their size
	before := measure(t)
	round()
	settle(t, before)
}

// halfOpen leaves a head, or a tunnel, unfinished, and waits to be ended.
func halfOpen(addr, target string, head bool) error {
	c, err := net.Dial("tcp", addr)
	if err != nil {
		return err
	}
	defer c.Close()
	c.SetDeadline(time.Now().Add(6 * patience))
	if head {
		io.WriteString(c, "GET http://a.test/ HTTP/1.1\r\nHo")
	} else {
		io.WriteString(c, vectors.Connect(target))
		c.(*net.TCPConn).CloseWrite()
	}
	if _, err := io.Copy(io.Discard, c); os.IsTimeout(err) {
		return err
	}
	return nil
}

// An idle tunnel holds no buffer: 64 KiB each would be two.
func TestIdleTunnelsAreSmall(t *testing.T) {
	const n = 300
	far := newFar(t, func(c net.Conn) { // small too, so that the sum says something
		one := make([]byte, 1)
		for {
			if _, err := c.Read(one); err != nil {
				return
			}
			c.Write(one)
		}
	})
	l := newLab(t, Config{Policy: NewPolicy([]Rule{onLoopback(t, "far.test", far.port)}, nil)})
	l.dns.set("far.test", "127.0.0.1")
	memory := func() uint64 {
		runtime.GC()
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return m.HeapAlloc + m.StackInuse
	}
	before := memory()
	for range n {
		c := l.dial()
		c.connect(target("far.test", far.port))
		c.send("x")
		c.read(1)
	}
	if each := (memory() - before) / n; each > 64<<10 {
		t.Errorf("%d KiB for each idle tunnel, both ends included", each>>10)
	} else {
		t.Logf("%d KiB for each idle tunnel, both ends included", each>>10)
	}
}

func (p *Proxy) connections() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.conns)
}
