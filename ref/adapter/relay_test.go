package adapter_test

import (
	"net/http"
	"strings"
	"testing"

	"bridgecheck/ref/adapter"
)

// odd has what a re-marshaller changes: a number above 2^53, another beyond
// float64, key order, escapes, blanks, duplicates below what we read, bytes
// that are not UTF-8.
const odd = `"z":9007199254740993,"a":1e999,"_meta":{"x":null,"y":"<\u00e9>"} ,"dup":1,"dup":2,"raw":"` + "\xff" + `"`

func TestMessagesAreRelayedAsTheyAre(t *testing.T) {
	b := newBridge(t, adapter.Options{})
	id, p := b.session("2025-11-25")
	for _, token := range []string{"1", `"1"`, "9007199254740993", `"a\u0062 <>"`, "-0.5e1"} {
		sent := `{"params":{` + odd + `},"id":` + token + `,"extra":[ ],"method":"x/unknown","jsonrpc":"2.0"}`
		answer := b.later(sent, "Mcp-Session-Id", id)
		if got := p.heard(t); got != sent {
			t.Errorf("the server got  %s\nthe client sent %s", got, sent)
		}
		want := `{"result":{` + odd + `},"id":` + token + `,"more":true}`
		p.say(want)
		if got := body(t, <-answer); got != want {
			t.Errorf("the client got  %s\nthe server sent %s", got, want)
		}
	}
}

func TestMessagesThatAreNoRequests(t *testing.T) {
	b := newBridge(t, adapter.Options{})
	id, p := b.session("2025-11-25")
	for _, sent := range []string{
		`{"jsonrpc":"2.0","method":"notifications/initialized"}`,
		`{"jsonrpc":"2.0","id":"srv-1","result":{"roots":[]}}`,
		`{"jsonrpc":"2.0","id":7,"error":{"code":-1,"message":"no"}}`,
	} {
		resp := b.request(http.MethodPost, sent, "Mcp-Session-Id", id)
		if text := body(t, resp); resp.StatusCode != http.StatusAccepted || text != "" {
			t.Errorf("%s: %s %q", sent, resp.Status, text)
		}
		if got := p.heard(t); got != sent {
			t.Errorf("the server got %s", got)
		}
	}
}

func TestBodiesThatAreRefused(t *testing.T) {
	b := newBridge(t, adapter.Options{})
	id, p := b.session("2025-11-25")
	for _, row := range []struct {
		sent string
		code string
	}{
		{``, "-32700"},
		{`{`, "-32700"},
		{`hello`, "-32700"},
		{`[]`, "-32700"},
		{`{"a":1} {"b":2}`, "-32700"},
		{`7`, "-32600"},
		{`{"id":1}`, "-32600"},
		{`{"id":1,"id":2,"method":"m"}`, "-32600"},
		{`[{"id":1,"method":"a"},{"id":2,"method":"b"}]`, "-32600"}, // batches ended with 2025-06-18
		{`[1]`, "-32600"},
	} {
		resp := b.request(http.MethodPost, row.sent, "Mcp-Session-Id", id)
		if text := body(t, resp); resp.StatusCode != http.StatusBadRequest || !strings.Contains(text, row.code) {
			t.Errorf("%s: %s %s, want %s", row.sent, resp.Status, text, row.code)
		}
	}
	select {
	case got := <-p.stdin:
		t.Errorf("the server got %s", got)
	default:
	}
	resp := b.request(http.MethodPost, `{"id":1,"method":"m"}`, "Mcp-Session-Id", id, "Accept", "application/json")
	if resp.StatusCode != http.StatusNotAcceptable {
		t.Errorf("a client that does not take streams: %s", resp.Status)
	}
	resp = b.request(http.MethodPost, `{"id":1,"method":"m"}`, "Mcp-Session-Id", id, "Mcp-Protocol-Version", "1999-01-01")
	if resp.StatusCode != http.StatusBadRequest {
		t.Errorf("an unknown version: %s", resp.Status)
	}
}

func TestPrettyPrintedJSONBecomesOneLine(t *testing.T) {
	b := newBridge(t, adapter.Options{})
	id, p := b.session("2025-11-25")
	answer := b.later("{\r\n\t\"id\": 1,\n\"method\":\"m\"}\n", "Mcp-Session-Id", id)
	if got := p.heard(t); got != "{  \t\"id\": 1, \"method\":\"m\"}" {
		t.Errorf("the server got %q", got)
	}
	p.say("{\"id\":1,\r\"result\":\"é\"}\r") // CRLF, and a lone CR that would end an event
	if got := body(t, <-answer); got != `{"id":1, "result":"é"}` {
		t.Errorf("the client got %q", got)
	}
}

func TestBatches(t *testing.T) {
	b := newBridge(t, adapter.Options{})
	id, p := b.session("2025-03-26")
	answer := b.later(`[{"id":1,"method":"a"}, {"method":"n"} ,{"id":2,"method":"b"}]`, "Mcp-Session-Id", id)
	for _, want := range []string{`{"id":1,"method":"a"}`, `{"method":"n"}`, `{"id":2,"method":"b"}`} {
		if got := p.heard(t); got != want {
			t.Errorf("the server got %s, want %s", got, want)
		}
	}
	p.say(`[{"id":2,"result":"B"},{"id":1,"result":"A"}]`)
	e := newEvents(t, <-answer)
	if got := e.next() + e.next() + e.next(); got != `{"id":2,"result":"B"}{"id":1,"result":"A"}EOF` {
		t.Errorf("answers are %s", got)
	}
	resp := b.request(http.MethodPost, `[{"method":"n"},{"method":"n"}]`, "Mcp-Session-Id", id)
	if resp.StatusCode != http.StatusAccepted {
		t.Errorf("a batch of notifications: %s", resp.Status)
	}
}

func TestMessagesThatAreTooLong(t *testing.T) {
	const limit = 64 << 10
	b := newBridge(t, adapter.Options{MessageBytes: limit})
	id, p := b.session("2025-11-25")
	// message has exactly size bytes; where puts the id first or last.
	message := func(size int, first, last string) string {
		frame := len(first) + len(last)
		return first + strings.Repeat("x", size-frame) + last
	}
	for _, size := range []int{limit - 1, limit, limit + 1} {
		sent := message(size, `{"id":1,"method":"m","params":"`, `"}`)
		answer := b.later(sent, "Mcp-Session-Id", id)
		if size > limit {
			if resp := <-answer; resp.StatusCode != http.StatusRequestEntityTooLarge {
				t.Errorf("%d bytes: %s", size, resp.Status)
			}
			continue
		}
		if got := p.heard(t); got != sent {
			t.Errorf("%d bytes: the server got %d", size, len(got))
		}
		back := message(size, `{"result":"`, `","id":1}`)
		p.say(back)
		if got := body(t, <-answer); got != back {
			t.Errorf("%d bytes: the client got %d", size, len(got))
		}
	}
	for _, back := range []string{
		message(limit+1, `{"result":{"id":7,"a":"\"`, `","b":[{"id":8}]},"id":1}`),
		message(3*limit, `{"jsonrpc":"2.0","id":1,"result":{"id":2,"x":"`, `"}}`),
	} {
		answer := b.later(`{"id":1,"method":"m"}`, "Mcp-Session-Id", id)
		p.heard(t)
		p.say(back)
		if got := body(t, <-answer); !strings.Contains(got, `"id":1`) || !strings.Contains(got, "more than 65536 bytes") {
			t.Errorf("an answer that is too long: %.200s", got)
		}
	}
	p.say(message(limit+1, `{"method":"sampling/createMessage","id":"s","params":"`, `"}`))
	if got := p.heard(t); !strings.Contains(got, `"id":"s"`) || !strings.Contains(got, "error") {
		t.Errorf("the server's request that is too long: %s", got)
	}
}
