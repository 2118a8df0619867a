package adapter_test

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"bridgecheck/ref/adapter"
)

func TestSessionsHaveTheirOwnProcesses(t *testing.T) {
	b := newBridge(t, adapter.Options{})
	one, p1 := b.session("2025-06-18")
	two, p2 := b.session("2025-11-25")
	if one == two || p1 == p2 || len(one) < 16 {
		t.Fatalf("sessions %q and %q", one, two)
	}
	const ask = `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`
	a1, a2 := b.later(ask, "Mcp-Session-Id", one), b.later(ask, "Mcp-Session-Id", two)
	p2.heard(t)
	p1.heard(t)
	p2.say(`{"id":1,"result":"two"}`)
	p1.say(`{"id":1,"result":"one"}`)
	if got := body(t, <-a1) + body(t, <-a2); got != `{"id":1,"result":"one"}{"id":1,"result":"two"}` {
		t.Errorf("answers are %s", got)
	}
}

func TestSessionsThatAreNotThere(t *testing.T) {
	b := newBridge(t, adapter.Options{})
	id, p := b.session("2025-11-25")
	const ping = `{"jsonrpc":"2.0","id":1,"method":"ping"}`
	status := func(method, session string) int {
		t.Helper()
		text := ""
		if method == http.MethodPost {
			text = ping
		}
		var headers []string
		if session != "" {
			headers = []string{"Mcp-Session-Id", session}
		}
		resp := b.request(method, text, headers...)
		if !strings.Contains(body(t, resp), `"jsonrpc"`) && resp.StatusCode >= 400 {
			t.Errorf("%s: no JSON-RPC error", method)
		}
		return resp.StatusCode
	}
	for _, method := range []string{http.MethodPost, http.MethodGet, http.MethodDelete} {
		if got := status(method, ""); got != http.StatusBadRequest {
			t.Errorf("%s without a session: %d", method, got)
		}
		if got := status(method, "unknown"); got != http.StatusNotFound {
			t.Errorf("%s of an unknown session: %d", method, got)
		}
	}
	if got := status(http.MethodDelete, id); got != http.StatusNoContent {
		t.Errorf("DELETE: %d", got)
	}
	eventually(t, "the process outlives its session", isGone(p))
	for _, method := range []string{http.MethodPost, http.MethodGet, http.MethodDelete} {
		if got := status(method, id); got != http.StatusNotFound {
			t.Errorf("%s of an ended session: %d", method, got)
		}
	}
	if got := status(http.MethodPut, id); got != http.StatusMethodNotAllowed {
		t.Errorf("PUT: %d", got)
	}
}

func TestEachEventIsFlushed(t *testing.T) {
	b := newBridge(t, adapter.Options{})
	id, p := b.session("2025-11-25")
	answer := b.later(`{"id":1,"method":"tools/call","params":{"_meta":{"progressToken":"t"}}}`, "Mcp-Session-Id", id)
	p.heard(t)
	p.say(`{"method":"notifications/progress","params":{"progressToken":"t","progress":1}}`)
	resp := <-answer
	for header, want := range map[string]string{"X-Accel-Buffering": "no", "Cache-Control": "no-store, no-transform"} {
		if got := resp.Header.Get(header); got != want {
			t.Errorf("%s is %q", header, got)
		}
	}
	e := newEvents(t, resp)
	for n := range 5 { // the server goes on only when the client has the event
		if got := e.next(); !strings.Contains(got, "progress") {
			t.Fatalf("event %d is %s", n, got)
		}
		p.say(`{"method":"notifications/message","params":{"data":"progress"}}`)
	}
	p.say(`{"id":1,"result":{}}`)
	e.next()
	if got := e.next() + e.next(); got != `{"id":1,"result":{}}EOF` {
		t.Errorf("the stream ends with %s", got)
	}
}

func TestRequestsOfTheServerReachTheirClient(t *testing.T) {
	b := newBridge(t, adapter.Options{})
	one, p1 := b.session("2025-11-25")
	_, p2 := b.session("2025-11-25")
	answer := b.later(`{"id":1,"method":"tools/call"}`, "Mcp-Session-Id", one)
	p1.heard(t)
	p1.say(`{"id":1,"method":"roots/list"}`) // the server's id 1 is not the client's
	e := newEvents(t, <-answer)
	if got := e.next(); got != `{"id":1,"method":"roots/list"}` {
		t.Errorf("the client got %s", got)
	}
	b.request(http.MethodPost, `{"id":1,"result":{"roots":[]}}`, "Mcp-Session-Id", one)
	if got := p1.heard(t); got != `{"id":1,"result":{"roots":[]}}` {
		t.Errorf("the server got %s", got)
	}
	p1.say(`{"id":1,"result":"done"}`)
	if got := e.next(); got != `{"id":1,"result":"done"}` {
		t.Errorf("the client got %s", got)
	}
	// This client has declared roots and nothing else.
	for _, method := range []string{"sampling/createMessage", "elicitation/create"} {
		p2.say(`{"id":"q","method":"` + method + `"}`)
		if got := p2.heard(t); !strings.Contains(got, `"id":"q"`) || !strings.Contains(got, "-32601") {
			t.Errorf("%s of a client without it: %s", method, got)
		}
	}
}

func TestStreamOfWhatBelongsToNoRequest(t *testing.T) {
	b := newBridge(t, adapter.Options{Heartbeat: 10 * time.Millisecond})
	id, p := b.session("2025-11-25")
	p.say(`{"method":"notifications/tools/list_changed"}`) // before anybody listens
	resp := b.request(http.MethodGet, "", "Mcp-Session-Id", id)
	first := make([]byte, 1)
	if _, err := io.ReadFull(resp.Body, first); err != nil || first[0] != ':' {
		t.Fatalf("the first byte is %q, %v", first, err)
	}
	e := newEvents(t, resp)
	kinds := []string{"tools/list_changed", "prompts/list_changed", "resources/list_changed", "resources/updated", "message"}
	for n, kind := range kinds {
		if n > 0 {
			p.say(`{"method":"notifications/` + kind + `"}`)
		}
		if got := e.next(); got != `{"method":"notifications/`+kind+`"}` {
			t.Errorf("event is %s", got)
		}
	}
	if line, err := e.r.ReadString('\n'); err != nil || line != ":\n" && line != "\n" {
		t.Errorf("no heartbeat: %q, %v", line, err)
	}
	// A reconnect takes the stream over.
	second := newEvents(t, b.request(http.MethodGet, "", "Mcp-Session-Id", id))
	for e.next() != "EOF" {
	}
	p.say(`{"method":"after"}`)
	if got := second.next(); got != `{"method":"after"}` {
		t.Errorf("event is %s", got)
	}
	if isGone(p)() {
		t.Error("the reconnect ended the server")
	}
}

func TestIDInUse(t *testing.T) {
	b := newBridge(t, adapter.Options{})
	id, p := b.session("2025-11-25")
	first := b.later(`{"id":1,"method":"a"}`, "Mcp-Session-Id", id)
	p.heard(t)
	resp := b.request(http.MethodPost, `{"id":1,"method":"b"}`, "Mcp-Session-Id", id)
	if text := body(t, resp); resp.StatusCode != http.StatusBadRequest || !strings.Contains(text, `"id":1`) {
		t.Errorf("the same id again: %s %s", resp.Status, text)
	}
	second := b.later(`{"id":"1","method":"c"}`, "Mcp-Session-Id", id)
	p.heard(t)
	p.say(`{"id":"1","result":"string"}`, `{"id":1,"result":"number"}`, `{"id":1,"result":"late"}`)
	if got := body(t, <-first) + body(t, <-second); got != `{"id":1,"result":"number"}{"id":"1","result":"string"}` {
		t.Errorf("answers are %s", got)
	}
}

func TestServerThatDiesInMidCall(t *testing.T) {
	b := newBridge(t, adapter.Options{})
	id, p := b.session("2025-11-25")
	answer := b.later(`{"id":1,"method":"a"}`, "Mcp-Session-Id", id)
	p.heard(t)
	_ = p.out.Close()
	text := body(t, <-answer)
	if !strings.Contains(text, `"id":1`) || !strings.Contains(text, `\"jira\"`) || !strings.Contains(text, "code 3") {
		t.Errorf("the caller got %s", text)
	}
	resp := b.request(http.MethodPost, `{"id":2,"method":"a"}`, "Mcp-Session-Id", id)
	if resp.StatusCode != http.StatusNotFound {
		t.Errorf("the next call: %s", resp.Status)
	}
	b.session("2025-11-25") // a new session has a new process
	b.fail = fmt.Errorf("start server %q: no more", "jira")
	resp = b.request(http.MethodPost, fmt.Sprintf(initialize, "2025-11-25"))
	if text := body(t, resp); resp.StatusCode != http.StatusBadGateway || !strings.Contains(text, "no more") {
		t.Errorf("a start that fails: %s %s", resp.Status, text)
	}
}
