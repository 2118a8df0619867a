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
		{``, "-32700"}, {`{`, "-32700"}, {`hello`, "-32700"}, {`[]`, "-32700"}, {`{"a":1} {"b":2}`, "-32700"},
		{`7`, "-32600"}, {`{"id":1}`, "-32600"}, {`{"id":1,"id":2,"method":"m"}`, "-32600"},
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
