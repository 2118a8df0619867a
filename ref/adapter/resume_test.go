package adapter_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"bridgecheck/ref/adapter"
)

func TestResume(t *testing.T) {
	b := newBridge(t, adapter.Options{})
	id, p := b.session("2025-11-25")
	answer := b.later(`{"id":1,"method":"m","params":{"_meta":{"progressToken":"t"}}}`, "Mcp-Session-Id", id)
	p.heard(t)
	note := func(n int) string {
		return fmt.Sprintf(`{"method":"notifications/progress","params":{"progressToken":"t","progress":%d}}`, n)
	}
	p.say(note(1), note(2))
	resp := <-answer
	e := newEvents(t, resp)
	e.next()
	lastSeen := e.id
	e.next()
	_ = resp.Body.Close() // it has seen the first; the second was lost on the way
	eventually(t, "the response goes on without its client", func() bool {
		p.say(`{"method":"notifications/message"}`)
		resp := b.request(http.MethodGet, "", "Mcp-Session-Id", id, "Last-Event-ID", lastSeen)
		f := newEvents(t, resp)
		if got := f.next(); got != note(2) {
			t.Errorf("the first event after the resumption is %s", got)
		}
		_ = resp.Body.Close()
		return true
	})
	for range 20 { // what has no answer takes no place in the store
		b.request(http.MethodPost, `{"method":"notifications/message"}`, "Mcp-Session-Id", id)
	}
	p.say(note(3), `{"id":1,"result":"done"}`)
	f := newEvents(t, b.request(http.MethodGet, "", "Mcp-Session-Id", id, "Last-Event-ID", lastSeen))
	var got []string
	for data := f.next(); data != "EOF"; data = f.next() {
		if !strings.Contains(data, "notifications/message") {
			got = append(got, data)
		}
	}
	want := []string{note(2), note(3), `{"id":1,"result":"done"}`}
	if strings.Join(got, " ") != strings.Join(want, " ") {
		t.Errorf("resumed with\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	again := newEvents(t, b.request(http.MethodGet, "", "Mcp-Session-Id", id, "Last-Event-ID", f.id))
	if data := again.next(); data != "EOF" {
		t.Errorf("after the last event came %s", data)
	}
	for _, unknown := range []string{"99-1", "x", "1-", "1--1", "-", "1-x"} {
		resp := b.request(http.MethodGet, "", "Mcp-Session-Id", id, "Last-Event-ID", unknown)
		if resp.StatusCode != http.StatusNotFound {
			t.Errorf("event id %q: %s", unknown, resp.Status)
		}
	}
}

func TestStreamsBeginWithAnIDWhereClientsKnowIt(t *testing.T) {
	b := newBridge(t, adapter.Options{})
	for version, want := range map[string]string{"2025-11-25": "id: 2-0", "2025-06-18": "event: message"} {
		id, p := b.session(version)
		answer := b.later(`{"id":1,"method":"m"}`, "Mcp-Session-Id", id)
		p.heard(t)
		p.say(`{"method":"n"}`)
		line, err := newEvents(t, <-answer).r.ReadString('\n')
		if err != nil || line != want+"\n" {
			t.Errorf("%s: the stream begins with %q, %v", version, line, err)
		}
		p.say(`{"id":1,"result":1}`)
	}
}

func TestCancelledRequestEndsItsResponse(t *testing.T) {
	t.Parallel()
	b := newBridge(t, adapter.Options{})
	id, p := b.session("2025-11-25")
	answer := b.later(`{"id":1,"method":"m"}`, "Mcp-Session-Id", id)
	p.heard(t)
	const cancel = `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}`
	b.request(http.MethodPost, cancel, "Mcp-Session-Id", id)
	if got := p.heard(t); got != cancel {
		t.Errorf("the server got %s", got)
	}
	if got := newEvents(t, <-answer).next(); got != "EOF" {
		t.Errorf("the response has %s", got)
	}
	p.say(`{"id":1,"result":"late"}`)
	b.request(http.MethodPost, cancel, "Mcp-Session-Id", id) // of an answered request: passed on, nothing else
	p.heard(t)
}

func TestServersQuestionThatNobodyReads(t *testing.T) {
	b := newBridge(t, adapter.Options{Unread: 20 * time.Millisecond})
	id, p := b.session("2025-11-25")
	p.say(`{"id":"q1","method":"roots/list"}`)
	if got := p.heard(t); !strings.Contains(got, `"q1"`) || !strings.Contains(got, "no stream") {
		t.Errorf("the server got %s", got)
	}
	e := newEvents(t, b.request(http.MethodGet, "", "Mcp-Session-Id", id))
	p.say(`{"id":"q2","method":"roots/list"}`)
	if got := e.next(); !strings.Contains(got, "q2") {
		t.Errorf("the client got %s", got)
	}
}

func TestWhatNobodyReadsIsBounded(t *testing.T) {
	b := newBridge(t, adapter.Options{})
	id, p := b.session("2025-11-25")
	for n := range 1000 {
		p.say(fmt.Sprintf(`{"method":"n","params":%d}`, n))
	}
	e := newEvents(t, b.request(http.MethodGet, "", "Mcp-Session-Id", id))
	var first int
	if _, err := fmt.Sscanf(e.next(), `{"method":"n","params":%d}`, &first); err != nil || first < 1000-300 {
		t.Errorf("the oldest that was kept is %d, %v", first, err)
	}
	for n := first + 1; n < 1000; n++ {
		if got := e.next(); !strings.HasSuffix(got, fmt.Sprintf(":%d}", n)) {
			t.Fatalf("number %d is %s", n, got)
		}
	}
}
