package relay_test

import (
	"bytes"
	"crypto/rand"
	"crypto/sha256"
	"io"
	"net"
	"path/filepath"
	"testing"
	"time"

	"go.uber.org/goleak"

	"bridgecheck/ref/relay"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// door starts a relay to socket and returns how to reach it.
func door(t *testing.T, socket string, connections int, idle time.Duration) (dial func() *net.TCPConn, failures chan error) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	failures = make(chan error, 100)
	r := relay.New(relay.Config{Socket: socket, Idle: idle, Connections: connections, OnFailure: func(err error) { failures <- err }})
	served := make(chan error, 1)
	go func() { served <- r.Serve(l) }()
	t.Cleanup(func() {
		_ = r.Close()
		if err := <-served; err != nil {
			t.Error("serve:", err)
		}
	})
	return func() *net.TCPConn {
		c, err := net.Dial("tcp", l.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		_ = c.SetDeadline(time.Now().Add(10 * time.Second))
		t.Cleanup(func() { _ = c.Close() })
		return c.(*net.TCPConn)
	}, failures
}

// far serves one handler on a Unix socket.
func far(t *testing.T, socket string, handle func(*net.UnixConn)) net.Listener {
	t.Helper()
	l, err := net.Listen("unix", socket)
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go func() { defer c.Close(); handle(c.(*net.UnixConn)) }()
		}
	}()
	t.Cleanup(func() { _ = l.Close(); <-done })
	return l
}

// Half-close each way: the answer comes after the end of the request.
func TestBytesAndHalfClose(t *testing.T) {
	socket := filepath.Join(t.TempDir(), "s")
	far(t, socket, func(c *net.UnixConn) {
		all, _ := io.ReadAll(c)
		sum := sha256.Sum256(all)
		_, _ = c.Write(sum[:])
	})
	dial, _ := door(t, socket, 8, time.Minute)
	for _, size := range []int{0, 1, 64<<10 - 1, 64<<10 + 1, 4 << 20} {
		c := dial()
		data := make([]byte, size)
		_, _ = rand.Read(data)
		go func() { _, _ = c.Write(data); _ = c.CloseWrite() }()
		got, err := io.ReadAll(c)
		if want := sha256.Sum256(data); err != nil || !bytes.Equal(got, want[:]) {
			t.Errorf("%d bytes: hash %x, %v; want %x", size, got, err, want)
		}
	}
}

func TestServerSpeaksFirstAndEndsFirst(t *testing.T) {
	socket := filepath.Join(t.TempDir(), "s")
	heard := make(chan string, 1)
	far(t, socket, func(c *net.UnixConn) {
		_, _ = c.Write([]byte("hello"))
		_ = c.CloseWrite()
		all, _ := io.ReadAll(c)
		heard <- string(all)
	})
	dial, _ := door(t, socket, 8, time.Minute)
	c := dial()
	if got, err := io.ReadAll(c); err != nil || string(got) != "hello" {
		t.Fatalf("server said %q, %v", got, err)
	}
	if _, err := c.Write([]byte("still here")); err != nil {
		t.Fatal(err)
	}
	_ = c.CloseWrite()
	if got := <-heard; got != "still here" {
		t.Errorf("server heard %q", got)
	}
}

func TestMissingSocketAndBack(t *testing.T) {
	socket := filepath.Join(t.TempDir(), "s")
	dial, failures := door(t, socket, 8, time.Minute)
	if got, err := io.ReadAll(dial()); len(got) > 0 {
		t.Errorf("read %q, %v from a relay to nowhere", got, err)
	}
	if err := <-failures; err == nil {
		t.Error("the failure was not told")
	}
	echo := func(c *net.UnixConn) { _, _ = io.Copy(c, c) }
	l := far(t, socket, echo)
	ping(t, dial())
	_ = l.Close()
	_, _ = io.ReadAll(dial())
	<-failures
	far(t, socket, echo)
	ping(t, dial())
}

// A silent direction is not an idle connection; a silent connection is.
func TestIdle(t *testing.T) {
	socket := filepath.Join(t.TempDir(), "s")
	const idle = 200 * time.Millisecond
	far(t, socket, func(c *net.UnixConn) {
		for range 8 {
			if _, err := c.Write([]byte(".")); err != nil {
				return
			}
			time.Sleep(idle / 2)
		}
		_, _ = io.Copy(io.Discard, c)
	})
	dial, _ := door(t, socket, 8, idle)
	got, _ := io.ReadAll(dial())
	if len(got) != 8 {
		t.Errorf("got %d of 8 bytes of a stream that only flows one way", len(got))
	}
}

func TestLimit(t *testing.T) {
	socket := filepath.Join(t.TempDir(), "s")
	far(t, socket, func(c *net.UnixConn) { _, _ = io.Copy(c, c) })
	dial, failures := door(t, socket, 1, time.Minute)
	first := dial()
	ping(t, first)
	if got, _ := io.ReadAll(dial()); len(got) > 0 {
		t.Errorf("the second connection got %q", got)
	}
	if err := <-failures; err != relay.ErrBusy {
		t.Errorf("told %v, want %v", err, relay.ErrBusy)
	}
	_ = first.CloseWrite()
	_, _ = io.ReadAll(first)
	for deadline := time.Now().Add(30 * time.Second); ; { // the slot is free a moment after the end
		c := dial()
		_, _ = c.Write([]byte("x"))
		if n, _ := c.Read(make([]byte, 1)); n == 1 {
			break
		}
		if time.Now().After(deadline) {
			t.Fatal("the slot did not come back")
		}
	}
}

func ping(t *testing.T, c net.Conn) {
	t.Helper()
	buf := make([]byte, 4)
	if _, err := c.Write([]byte("ping")); err != nil {
		t.Fatal(err)
	}
	if _, err := io.ReadFull(c, buf); err != nil || string(buf) != "ping" {
		t.Fatalf("echo = %q, %v", buf, err)
	}
}
