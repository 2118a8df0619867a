package mcpserver_test

import (
	"bytes"
	"context"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"bridgecheck/ref/event"
	"bridgecheck/ref/mcpserver"
)

func TestMain(m *testing.M) {
	mcpserver.Main()
	switch os.Getenv("FAKE") {
	case "":
	case "fake oracle":
		oracleMain()
	case "bridge":
		bridgeMain()
	case "stuck":
		stuckMain()
	default:
		fakeMain()
	}
	goleak.VerifyTestMain(m)
}

// log collects the events of one manager.
type log struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (l *log) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.buf.Write(p)
}

func (l *log) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.buf.String()
}

// await waits for an event that holds all the parts.
func (l *log) await(t *testing.T, parts ...string) {
	t.Helper()
	deadline := time.Now().Add(30 * time.Second)
	for {
		for line := range strings.Lines(l.String()) {
			if containsAll(line, parts) {
				return
			}
		}
		if time.Now().After(deadline) {
			t.Fatalf("no event with %q in:\n%s", parts, l)
		}
		time.Sleep(5 * time.Millisecond)
	}
}

func containsAll(s string, parts []string) bool {
	for _, p := range parts {
		if !strings.Contains(s, p) {
			return false
		}
	}
	return true
}

func newManager(t *testing.T, change ...func(*mcpserver.Options)) (*mcpserver.ServerManager, *log, string) {
	t.Helper()
	dir := privateDir(t)
	events := &log{}
	opts := mcpserver.Options{Dir: dir, Events: event.NewRecorder(events)}
	for _, f := range change {
		f(&opts)
	}
	m := mcpserver.New(opts)
	t.Cleanup(func() {
		if err := m.StopAll(); err != nil {
			t.Error(err)
		}
		if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
			t.Errorf("left in the socket directory: %v, %v", left, err)
		}
	})
	return m, events, dir
}

func privateDir(t testing.TB) string {
	t.Helper()
	dir := t.TempDir()
	if err := os.Chmod(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	return dir
}

// config is this test binary as a fake server. What must end by itself within the
// grace does on a busy host too.
func config(t testing.TB, words string) mcpserver.Config {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return mcpserver.Config{
		Command: self, Env: map[string]string{"FAKE": "fake " + words},
		StopGrace: time.Second, StartTimeout: 20 * time.Second,
	}
}

// start starts a fake or fails the test.
func start(t *testing.T, m *mcpserver.ServerManager, name, words string) string {
	t.Helper()
	socket, err := m.Start(t.Context(), name, config(t, words))
	if err != nil {
		t.Fatal(err)
	}
	return socket
}

// httpClient speaks HTTP on a Unix socket.
func httpClient(t testing.TB, socket string) *http.Client {
	transport := &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		var d net.Dialer
		return d.DialContext(ctx, "unix", socket)
	}}
	t.Cleanup(transport.CloseIdleConnections)
	return &http.Client{Transport: transport}
}

// marker is a file that the fake's children hold open as descriptor 9.
func marker(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "marker")
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func holders(t *testing.T, path string) (out []string) {
	t.Helper()
	fds, err := filepath.Glob("/proc/[0-9]*/fd/9")
	if err != nil {
		t.Fatal(err)
	}
	for _, fd := range fds {
		if to, err := os.Readlink(fd); err == nil && to == path {
			out = append(out, fd)
		}
	}
	return out
}

// childrenOf gives the processes that a process has started and not yet waited
// for, proc_pid_stat(5).
func childrenOf(t *testing.T, parent int) (pids []int) {
	t.Helper()
	entries, err := os.ReadDir("/proc")
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		pid, err := strconv.Atoi(e.Name())
		if err != nil {
			continue
		}
		stat, err := os.ReadFile("/proc/" + e.Name() + "/stat")
		if err != nil {
			continue // it has just ended
		}
		// The name, in parentheses, may hold anything.
		after := strings.Fields(string(stat[bytes.LastIndexByte(stat, ')')+1:]))
		if len(after) > 1 && after[1] == strconv.Itoa(parent) {
			pids = append(pids, pid)
		}
	}
	return pids
}

func eventually(t *testing.T, f func() bool) {
	t.Helper()
	for end := time.Now().Add(30 * time.Second); !f(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("it did not come to it")
		}
	}
}
