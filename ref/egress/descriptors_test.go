package egress

import (
	"bufio"
	"bytes"
	"log/slog"
	"net"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"testing"

	"bridgecheck/ref/egress/internal/vectors"
)

// With 64 descriptors the proxy takes fewer connections, refuses the rest in
// words, and recovers. It runs in a process of its own.
func TestFewDescriptors(t *testing.T) {
	if os.Getenv("EGRESS_FEW_DESCRIPTORS") == "" {
		cmd := exec.Command(os.Args[0], "-test.run=^TestFewDescriptors$", "-test.v")
		cmd.Env = append(os.Environ(), "EGRESS_FEW_DESCRIPTORS=1")
		out, err := cmd.CombinedOutput()
		if err != nil || !strings.Contains(string(out), "--- PASS: TestFewDescriptors") {
			t.Fatalf("%v\n%s", err, out)
		}
		return
	}
	far := newFar(t, echo)
	policy := NewPolicy([]Rule{onLoopback(t, "far.test", far.port)}, nil)
	at := target("far.test", far.port)
	limit := func(n uint64) {
		if err := syscall.Setrlimit(syscall.RLIMIT_NOFILE, &syscall.Rlimit{Cur: n, Max: 1024}); err != nil {
			t.Fatal(err)
		}
	}
	limit(64)
	if n := descriptorsAllow(); n != 16 {
		t.Errorf("64 descriptors allow %d connections", n)
	}
	small := newLab(t, Config{Policy: policy})
	if n := small.proxy.Limits().Connections; n != 16 {
		t.Errorf("the limit in force is %d", n)
	}
	limit(1024)
	var log syncBuffer
	l := newLab(t, Config{Policy: policy, Log: slog.New(slog.NewTextHandler(&log, nil))}) // takes more than it will have
	l.dns.set("far.test", "127.0.0.1")
	before := openFDs(t)
	c := l.dial()
	c.connect(at)
	c.Close()
	eventually(t, "all descriptors are back", func() bool { return openFDs(t) == before })
	// A dial without a descriptor is a refusal in words.
	c = l.dial()
	c.send(vectors.Get("http://b.test/"))
	c.response("GET")
	limit(uint64(nextFD(t)))
	c.send(vectors.Connect(at))
	res, body := c.response("CONNECT")
	if res.StatusCode != 503 || !strings.Contains(body, "out_of_descriptors") {
		t.Errorf("dial without a descriptor: %s %s", res.Status, body)
	}
	limit(1024)
	c.Close()
	// Accepting without one waits and goes on.
	d := net.Dialer{Control: func(string, string, syscall.RawConn) error { limit(uint64(nextFD(t))); return nil }}
	conn, err := d.Dial("tcp", l.addr)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	eventually(t, "accept meets the limit", func() bool { return strings.Contains(log.String(), "too many open files") })
	limit(1024)
	c = &client{t: t, Conn: conn, r: bufio.NewReader(conn)}
	c.connect(at)
	c.send("x")
	c.read(1)
}

type syncBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (s *syncBuffer) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.Write(p)
}

func (s *syncBuffer) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.String()
}

func openFDs(t *testing.T) int {
	t.Helper()
	runtime.GC() // closes the pipes that io.Copy of the far side keeps for splice(2)
	list, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Fatal(err)
	}
	return len(list)
}

// nextFD is the number the next descriptor would get.
func nextFD(t *testing.T) int {
	t.Helper()
	fd, err := syscall.Dup(0)
	if err != nil {
		t.Fatal(err)
	}
	syscall.Close(fd)
	return fd
}
