package mcpserver_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"runtime"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"bridgecheck/ref/mcpserver/contain"
)

// reconnects is how often each kind of client comes again. RECONNECTS sets it:
// 21600 is one every four seconds for 24 hours.
func reconnects(t *testing.T) int {
	n, err := strconv.Atoi(os.Getenv("RECONNECTS"))
	if os.Getenv("RECONNECTS") != "" && err != nil {
		t.Fatal("RECONNECTS: ", err)
	}
	return max(n, 12)
}

// usage is what reconnects could make grow.
type usage struct {
	goroutines, descriptors, processes int
	heap                               uint64
}

func (u usage) String() string {
	return fmt.Sprintf("%d goroutines, %d descriptors, %d processes, %d KiB of heap", u.goroutines, u.descriptors, u.processes, u.heap>>10)
}

func measure(t *testing.T) usage {
	t.Helper()
	runtime.GC()
	runtime.GC() // what the first has finalised
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	files, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Fatal(err)
	}
	return usage{runtime.NumGoroutine(), len(files), len(childrenOf(t, os.Getpid())), m.HeapAlloc}
}

// A client that loses its connection every few seconds for a whole day must not
// cost more in the end than after its first minutes.
func TestReconnectsLeaveNoGrowth(t *testing.T) {
	n := reconnects(t)
	const modern = "modern"
	for _, row := range []struct {
		name, words string
		detached    time.Duration
		come        func(c *http.Client, session string) error
	}{
		{"stream of a session", "", 0, takeOver},
		{"call of a session", "", 0, dropCall},
		{"a session each", "", 20 * time.Millisecond, dropSession},
		{"HTTP with SSE", "", 0, dropSSE},
		{"stateless", modern, 0, dropStateless},
	} {
		t.Run(row.name, func(t *testing.T) {
			m, _, _ := newManager(t)
			cfg := config(t, row.words)
			cfg.Detached, cfg.Sessions, cfg.Containment = row.detached, 4, contain.ProcessGroup
			socket, err := m.Start(t.Context(), "s", cfg)
			if err != nil {
				t.Fatal(err)
			}
			c := httpClient(t, socket)
			c.Transport.(*http.Transport).DisableKeepAlives = true
			id := ""
			if row.words != modern {
				id = session(t, socket)
			}
			rounds := func(n int) {
				for i := range n {
					if err := row.come(c, id); err != nil {
						t.Fatalf("reconnect %d: %v", i, err)
					}
				}
			}
			rounds(3 * cfg.Sessions) // until what is kept on purpose is full
			before := settled(t, usage{})
			rounds(n)
			after := settled(t, before)
			t.Logf("%d reconnects: %v, then %v", n, before, after)
			// The heap may differ by buffers that a pool keeps, not by some bytes for each.
			if after.goroutines > before.goroutines+2 || after.descriptors > before.descriptors+2 ||
				after.processes > before.processes || after.heap > before.heap+1<<20 {
				t.Errorf("%d reconnects grow %v to %v", n, before, after)
			}
		})
	}
}

// settled measures until nothing ends any more, or all is as little as limit.
func settled(t *testing.T, limit usage) (now usage) {
	t.Helper()
	for end := time.Now().Add(30 * time.Second); time.Now().Before(end); {
		last := now
		time.Sleep(100 * time.Millisecond)
		now = measure(t)
		same := now.goroutines == last.goroutines && now.descriptors == last.descriptors && now.processes == last.processes
		within := now.goroutines <= limit.goroutines && now.descriptors <= limit.descriptors && now.processes <= limit.processes
		if same && (within || limit == usage{}) {
			return now
		}
	}
	return now
}

// takeOver opens the stream of a session that goes on.
func takeOver(c *http.Client, session string) error {
	return visit(c, http.MethodGet, "/mcp", "", ":", "Mcp-Session-Id", session)
}

var lastID atomic.Int64

// dropCall leaves a call after the first of what it sends.
func dropCall(c *http.Client, session string) error {
	const call = `{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"progress","_meta":{"progressToken":1}}}`
	return visit(c, http.MethodPost, "/mcp", fmt.Sprintf(call, lastID.Add(1)), "data: {", "Mcp-Session-Id", session)
}

// dropSession begins a session and is never heard of again.
func dropSession(c *http.Client, _ string) error {
	resp, err := do(c, "", initialize)
	if err != nil {
		return err
	}
	_ = resp.Body.Close()
	return takeOver(c, resp.Header.Get("Mcp-Session-Id"))
}

func dropSSE(c *http.Client, _ string) error {
	return visit(c, http.MethodGet, "/sse", "", "data: messages?")
}

// dropStateless leaves a call that would never be answered.
func dropStateless(c *http.Client, _ string) error {
	ctx, leave := context.WithTimeout(context.Background(), 5*time.Millisecond)
	defer leave()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://localhost/mcp",
		strings.NewReader(stateless(`"id":1,"method":"tools/call"`, `"name":"hang"`)))
	if err != nil {
		return err
	}
	req.Header = http.Header{
		"Accept": {"application/json, text/event-stream"}, "Content-Type": {"application/json"},
		"Mcp-Protocol-Version": {"2026-07-28"}, "Mcp-Method": {"tools/call"}, "Mcp-Name": {"hang"},
	}
	resp, err := c.Do(req)
	if err == nil {
		_ = resp.Body.Close()
		return fmt.Errorf("answered %s", resp.Status)
	}
	if !errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	return nil
}

// visit opens a response and leaves it after the line that begins with until.
func visit(c *http.Client, method, path, body, until string, headers ...string) error {
	ctx, leave := context.WithCancel(context.Background())
	defer leave()
	req, err := http.NewRequestWithContext(ctx, method, "http://localhost"+path, strings.NewReader(body))
	if err != nil {
		return err
	}
	req.Header.Set("Accept", "application/json, text/event-stream")
	for n := 0; n < len(headers); n += 2 {
		req.Header.Set(headers[n], headers[n+1])
	}
	resp, err := c.Do(req)
	if err != nil {
		return err
	}
	defer func() { _ = resp.Body.Close() }()
	for lines := bufio.NewReader(resp.Body); ; {
		line, err := lines.ReadString('\n')
		if strings.HasPrefix(line, until) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("%s %s: %s without %q: %w", method, path, resp.Status, until, err)
		}
	}
}
