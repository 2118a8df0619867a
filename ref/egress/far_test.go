package egress

import (
	"errors"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"testing"
)

// far is a counting upstream on loopback.
type far struct {
	net.Listener
	port     int
	accepted atomic.Int64
}

// newFar serves each connection by f, which need not close it.
func newFar(t *testing.T, f func(net.Conn)) *far {
	t.Helper()
	return newFarAt(t, "127.0.0.1:0", f)
}

func newFarAt(t *testing.T, addr string, f func(net.Conn)) *far {
	t.Helper()
	ln, err := net.Listen("tcp", addr)
	if err != nil {
		t.Skipf("listen on %s: %v", addr, err)
	}
	s := &far{Listener: ln, port: ln.Addr().(*net.TCPAddr).Port}
	var wg sync.WaitGroup
	var mu sync.Mutex
	open := map[net.Conn]bool{}
	wg.Go(func() {
		for {
			c, err := ln.Accept()
			if err != nil {
				return
			}
			s.accepted.Add(1)
			mu.Lock()
			open[c] = true
			mu.Unlock()
			wg.Go(func() {
				f(c)
				c.Close()
				mu.Lock()
				delete(open, c)
				mu.Unlock()
			})
		}
	})
	t.Cleanup(func() {
		ln.Close()
		mu.Lock()
		for c := range open {
			c.Close()
		}
		mu.Unlock()
		wg.Wait()
	})
	return s
}

// newWeb is an HTTP upstream; the connections it got are counted.
func newWeb(t *testing.T, h http.HandlerFunc) *far {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := &far{Listener: ln, port: ln.Addr().(*net.TCPAddr).Port}
	srv := &http.Server{Handler: h, ConnState: func(_ net.Conn, st http.ConnState) {
		if st == http.StateNew {
			s.accepted.Add(1)
		}
	}}
	done := make(chan error, 1)
	go func() { done <- srv.Serve(ln) }()
	t.Cleanup(func() {
		srv.Close()
		if err := <-done; !errors.Is(err, http.ErrServerClosed) {
			t.Errorf("upstream: %v", err)
		}
	})
	return s
}
