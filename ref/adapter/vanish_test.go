package adapter_test

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"bridgecheck/ref/adapter"
)

func TestClientThatClosesItsHalf(t *testing.T) {
	b := newBridge(t, adapter.Options{})
	id, p := b.session("2025-11-25")
	conn, err := net.Dial("tcp", strings.TrimSuffix(strings.TrimPrefix(b.url, "http://"), "/mcp"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close() }()
	const ask = `{"id":1,"method":"m"}`
	fmt.Fprintf(conn, "POST /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\nMcp-Session-Id: %s\r\nContent-Length: %d\r\n\r\n%s", id, len(ask), ask)
	if err := conn.(*net.TCPConn).CloseWrite(); err != nil {
		t.Fatal(err)
	}
	p.heard(t)
	time.Sleep(50 * time.Millisecond) // until the server has seen the end of input and tried the client
	p.say(`{"id":1,"result":"whole"}`)
	all, err := io.ReadAll(conn)
	if err != nil || !strings.Contains(string(all), `"whole"`) {
		t.Errorf("the client got %q, %v", all, err)
	}
}

func TestClientsThatVanish(t *testing.T) {
	b := newBridge(t, adapter.Options{Detached: 20 * time.Millisecond, Sessions: 4})
	for n := range 8 {
		id, p := b.session("2025-11-25")
		if n%2 == 0 {
			resp := b.request(http.MethodGet, "", "Mcp-Session-Id", id)
			_ = resp.Body.Close()
		} else {
			answer := b.later(`{"id":1,"method":"m"}`, "Mcp-Session-Id", id)
			p.heard(t)
			p.say(`{"method":"n"}`)
			_ = (<-answer).Body.Close()
		}
		eventually(t, "the process of a vanished client goes on", isGone(p))
	}
}

func TestSessionLimits(t *testing.T) {
	b := newBridge(t, adapter.Options{Sessions: 2})
	one, p1 := b.session("2025-11-25")
	_, p2 := b.session("2025-11-25")
	newEvents(t, b.request(http.MethodGet, "", "Mcp-Session-Id", one)) // busy, though it is the older
	third, _ := b.session("2025-11-25")
	eventually(t, "the idle session goes on", isGone(p2))
	if isGone(p1)() {
		t.Error("a busy session had to go")
	}
	newEvents(t, b.request(http.MethodGet, "", "Mcp-Session-Id", third))
	resp := b.request(http.MethodPost, fmt.Sprintf(initialize, "2025-11-25"))
	if text := body(t, resp); resp.StatusCode < 500 || !strings.Contains(text, "limit") {
		t.Errorf("a session too many: %s %s", resp.Status, text)
	}
}

func TestIdleSessionsEnd(t *testing.T) {
	b := newBridge(t, adapter.Options{Idle: 20 * time.Millisecond})
	_, p := b.session("2025-11-25")
	eventually(t, "an idle session goes on", isGone(p))
}

func TestCloseAnswersWhoWaits(t *testing.T) {
	b := newBridge(t, adapter.Options{})
	id, p := b.session("2025-11-25")
	answer := b.later(`{"id":1,"method":"m"}`, "Mcp-Session-Id", id)
	p.heard(t)
	b.adapter.Close()
	if text := body(t, <-answer); !strings.Contains(text, "stopped") {
		t.Errorf("the caller got %s", text)
	}
	if !isGone(p)() {
		t.Error("the process goes on")
	}
	resp := b.request(http.MethodPost, fmt.Sprintf(initialize, "2025-11-25"))
	if resp.StatusCode != http.StatusBadGateway {
		t.Errorf("after Close: %s", resp.Status)
	}
}
