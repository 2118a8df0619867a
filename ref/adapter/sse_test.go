package adapter_test

import (
	"net/http"
	"strings"
	"testing"

	"bridgecheck/ref/adapter"
)

// sse opens a session of the older transport.
func (b *bridge) sse() (e *events, send func(body string) int, p *process) {
	b.t.Helper()
	resp, err := b.http.Get(strings.TrimSuffix(b.url, "/mcp") + "/sse")
	if err != nil {
		b.t.Fatal(err)
	}
	b.t.Cleanup(func() { _ = resp.Body.Close() })
	e = newEvents(b.t, resp)
	if line, err := e.r.ReadString('\n'); err != nil || line != "event: endpoint\n" {
		b.t.Fatalf("the stream begins with %q, %v", line, err)
	}
	endpoint, err := resp.Request.URL.Parse(e.next())
	if err != nil {
		b.t.Fatal(err)
	}
	send = func(body string) int {
		resp, err := b.http.Post(endpoint.String(), "application/json", strings.NewReader(body))
		if err != nil {
			b.t.Fatal(err)
		}
		_ = resp.Body.Close()
		return resp.StatusCode
	}
	return e, send, b.process()
}

func TestHTTPWithSSE(t *testing.T) {
	b := newBridge(t, adapter.Options{})
	e, send, p := b.sse()
	const initialize = `{"id":0,"method":"initialize","params":{"capabilities":{"roots":{}}}}`
	if status := send(initialize); status != http.StatusAccepted || p.heard(t) != initialize {
		t.Fatalf("initialize: %d", status)
	}
	p.say(`{"id":0,"result":{"protocolVersion":"2024-11-05"}}`, `{"method":"notifications/message"}`, `{"id":0,"method":"roots/list"}`)
	for _, want := range []string{`{"id":0,"result":{"protocolVersion":"2024-11-05"}}`, `{"method":"notifications/message"}`, `{"id":0,"method":"roots/list"}`} {
		if got := e.next(); got != want {
			t.Errorf("the client got %s, want %s", got, want)
		}
	}
	send(`{"id":0,"result":{"roots":[]}}`)
	if got := p.heard(t); got != `{"id":0,"result":{"roots":[]}}` {
		t.Errorf("the server got %s", got)
	}
	p.say(`{"id":"s","method":"sampling/createMessage"}`)
	if got := p.heard(t); !strings.Contains(got, "-32601") {
		t.Errorf("a question the client cannot answer: %s", got)
	}
	send(`{"id":1,"method":"a"}`)
	if status := send(`{"id":1,"method":"b"}`); status != http.StatusBadRequest {
		t.Errorf("an id in use: %d", status)
	}
	p.heard(t)
	if status := send(`{`); status != http.StatusBadRequest {
		t.Errorf("no JSON: %d", status)
	}
	_ = p.out.Close()
	if got := e.next(); !strings.Contains(got, `"id":1`) || !strings.Contains(got, "code 3") {
		t.Errorf("the caller of a dead server got %s", got)
	}
	if got := e.next(); got != "EOF" {
		t.Errorf("the stream goes on with %s", got)
	}
	if status := send(`{"id":2,"method":"a"}`); status != http.StatusNotFound {
		t.Errorf("after the end: %d", status)
	}
}

func TestEndOfTheSSEStreamEndsTheSession(t *testing.T) {
	b := newBridge(t, adapter.Options{})
	_, send, p := b.sse()
	b.http.CloseIdleConnections()
	resp, err := b.http.Post(strings.TrimSuffix(b.url, "/mcp")+"/sse", "application/json", strings.NewReader("{}"))
	if err != nil {
		t.Fatal(err)
	}
	_ = resp.Body.Close()
	if resp.StatusCode != http.StatusMethodNotAllowed {
		t.Errorf("POST to the stream: %s", resp.Status)
	}
	b.adapter.Close()
	eventually(t, "the process goes on", isGone(p))
	if status := send(`{"id":2,"method":"a"}`); status != http.StatusNotFound {
		t.Errorf("after the end: %d", status)
	}
}

func TestSSEClientThatVanishes(t *testing.T) {
	b := newBridge(t, adapter.Options{})
	for range 3 {
		resp, err := b.http.Get(strings.TrimSuffix(b.url, "/mcp") + "/sse")
		if err != nil {
			t.Fatal(err)
		}
		_ = resp.Body.Close()
		eventually(t, "the process goes on", isGone(b.process()))
	}
}

func TestSessionsOfTheTwoTransportsAreApart(t *testing.T) {
	b := newBridge(t, adapter.Options{})
	id, _ := b.session("2025-11-25")
	resp, err := b.http.Post(strings.TrimSuffix(b.url, "/mcp")+"/messages?sessionId="+id, "application/json", strings.NewReader(`{"method":"n"}`))
	if err != nil {
		t.Fatal(err)
	}
	_ = resp.Body.Close()
	if resp.StatusCode != http.StatusNotFound {
		t.Errorf("a session of the newer transport on the older: %s", resp.Status)
	}
}
