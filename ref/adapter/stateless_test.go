package adapter_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"bridgecheck/ref/adapter"
)

var modern = adapter.Options{Versions: []string{"2026-07-28"}}

const meta = `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}%s}`

// stateless is a request with the headers it must have.
func stateless(id, method, metaMore, params string) (raw string, headers []string) {
	if params != "" {
		params = "," + params
	}
	raw = fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"method":"%s","params":{`+meta+`%s}}`, id, method, metaMore, params)
	return raw, []string{"Mcp-Protocol-Version", "2026-07-28", "Mcp-Method", method}
}

// number is the id that the server got a request with.
func number(t *testing.T, line string) string {
	t.Helper()
	var m struct {
		ID json.RawMessage `json:"id"`
	}
	if err := json.Unmarshal([]byte(line), &m); err != nil {
		t.Fatal(err)
	}
	return string(m.ID)
}

func TestStatelessRequestsShareAProcess(t *testing.T) {
	b := newBridge(t, modern)
	ask := func(id, token string) (<-chan *http.Response, string) {
		raw, headers := stateless(id, "x/y", `,"progressToken":`+token, `"n":9007199254740993`)
		return b.later(raw, headers...), raw
	}
	one, sent := ask("1", `"t"`)
	p := b.process()
	got1 := p.heard(t)
	n1 := number(t, got1)
	want := strings.Replace(strings.Replace(sent, `"id":1`, `"id":`+n1, 1), `"progressToken":"t"`, `"progressToken":`+n1, 1)
	if got1 != want {
		t.Errorf("the server got %s\nwant           %s", got1, want)
	}
	two, _ := ask(`"1"`, `"t"`)
	three, _ := ask("1", "5")
	line2, line3 := p.heard(t), p.heard(t)
	if strings.Contains(line3, `"n":9007199254740993`) && strings.Contains(line2, `"progressToken":5`) {
		line2, line3 = line3, line2
	}
	n2, n3 := number(t, line2), number(t, line3)
	for _, n := range []string{n3, n2, n1} {
		p.say(`{"method":"notifications/progress","params":{"progress":1,"progressToken":` + n + `}}`)
		p.say(`{"result":{"for":` + n + `},"id":` + n + `}`)
	}
	seen := map[string]bool{}
	for _, c := range []struct {
		answer    <-chan *http.Response
		id, token string
	}{{one, "1", `"t"`}, {two, `"1"`, `"t"`}, {three, "1", "5"}} {
		e := newEvents(t, <-c.answer)
		if got, want := e.next(), `{"method":"notifications/progress","params":{"progress":1,"progressToken":`+c.token+`}}`; got != want {
			t.Errorf("progress is %s, want %s", got, want)
		}
		got := e.next()
		if !strings.HasSuffix(got, `},"id":`+c.id+`}`) || seen[got+c.token] {
			t.Errorf("answer is %s, want id %s", got, c.id)
		}
		seen[got+c.token] = true
	}
	if len(b.started) > 0 {
		t.Error("a second process was started")
	}
	if resp := b.request(http.MethodGet, "", "Mcp-Protocol-Version", "2026-07-28"); resp.StatusCode != http.StatusMethodNotAllowed || resp.Header.Get("Allow") != "POST" {
		t.Errorf("GET: %s", resp.Status)
	}
	if resp := b.request(http.MethodDelete, "", "Mcp-Protocol-Version", "2026-07-28", "Mcp-Session-Id", "x"); resp.StatusCode != http.StatusMethodNotAllowed {
		t.Errorf("DELETE: %s", resp.Status)
	}
}

func TestHeadersOfStatelessRequests(t *testing.T) {
	b := newBridge(t, modern)
	call := func(name string) string {
		return fmt.Sprintf(`{"id":1,"method":"tools/call","params":{"name":"%s",`+meta+`}}`, name, "")
	}
	for _, row := range []struct {
		title   string
		raw     string
		headers []string
		code    string // empty: it reaches the server
	}{
		{"all right", call("echo"), []string{"Mcp-Protocol-Version", "2026-07-28", "Mcp-Method", "tools/call", "Mcp-Name", "echo"}, ""},
		{"name in base64", call("é"), []string{"Mcp-Protocol-Version", "2026-07-28", "Mcp-Method", "tools/call", "Mcp-Name", "=?base64?w6k=?="}, ""},
		{"no version header", call("echo"), []string{"Mcp-Method", "tools/call", "Mcp-Name", "echo"}, "-32020"},
		{"other version in the header", call("echo"), []string{"Mcp-Protocol-Version", "2025-11-25", "Mcp-Method", "tools/call", "Mcp-Name", "echo"}, "-32020"},
		{"no version in the body", `{"id":1,"method":"tools/list"}`, []string{"Mcp-Protocol-Version", "2026-07-28", "Mcp-Method", "tools/list"}, "-32602"},
		{"unsupported version", strings.ReplaceAll(call("echo"), "2026-07-28", "2099-01-01"), []string{"Mcp-Protocol-Version", "2099-01-01", "Mcp-Method", "tools/call", "Mcp-Name", "echo"}, "-32022"},
		{"ancient version", strings.ReplaceAll(call("echo"), "2026-07-28", "1900-01-01"), []string{"Mcp-Protocol-Version", "1900-01-01", "Mcp-Method", "tools/call", "Mcp-Name", "echo"}, "-32022"},
		{"no method", call("echo"), []string{"Mcp-Protocol-Version", "2026-07-28", "Mcp-Name", "echo"}, "-32020"},
		{"other method", call("echo"), []string{"Mcp-Protocol-Version", "2026-07-28", "Mcp-Method", "tools/list", "Mcp-Name", "echo"}, "-32020"},
		{"method in other case", call("echo"), []string{"Mcp-Protocol-Version", "2026-07-28", "Mcp-Method", "Tools/Call", "Mcp-Name", "echo"}, "-32020"},
		{"no name", call("echo"), []string{"Mcp-Protocol-Version", "2026-07-28", "Mcp-Method", "tools/call"}, "-32020"},
		{"other name", call("echo"), []string{"Mcp-Protocol-Version", "2026-07-28", "Mcp-Method", "tools/call", "Mcp-Name", "Echo"}, "-32020"},
		{"bad base64", call("echo"), []string{"Mcp-Protocol-Version", "2026-07-28", "Mcp-Method", "tools/call", "Mcp-Name", "=?base64?!?="}, "-32020"},
		{"uri", fmt.Sprintf(`{"id":1,"method":"resources/read","params":{"uri":"file:///a",`+meta+`}}`, ""), []string{"Mcp-Protocol-Version", "2026-07-28", "Mcp-Method", "resources/read", "Mcp-Name", "file:///b"}, "-32020"},
		{"response", `{"id":1,"result":{}}`, []string{"Mcp-Protocol-Version", "2026-07-28", "Mcp-Method", "x"}, "-32600"},
		{"batch", `[` + call("a") + `,` + call("b") + `]`, []string{"Mcp-Protocol-Version", "2026-07-28", "Mcp-Method", "tools/call", "Mcp-Name", "a"}, "-32600"},
	} {
		answer := b.later(row.raw, row.headers...)
		if row.code == "" {
			select {
			case p := <-b.started:
				b.started <- p // one for all rows
				line := p.heard(t)
				p.say(`{"id":` + number(t, line) + `,"result":{}}`)
			case resp := <-answer:
				t.Errorf("%s: %s", row.title, body(t, resp))
				continue
			}
		}
		resp := <-answer
		text := body(t, resp)
		if row.code == "" && resp.StatusCode != http.StatusOK || row.code != "" && (resp.StatusCode != http.StatusBadRequest || !strings.Contains(text, row.code)) {
			t.Errorf("%s: %s %s, want %q", row.title, resp.Status, text, row.code)
		}
		if row.code == "-32022" && !strings.Contains(text, `"supported":["2026-07-28"]`) {
			t.Errorf("%s: %s does not tell what is supported", row.title, text)
		}
	}
}

func TestStatusOfStatelessErrors(t *testing.T) {
	b := newBridge(t, modern)
	var p *process
	for code, status := range map[string]int{"-32601": 404, "-32602": 400, "-32021": 400, "-32603": 200, "-1": 200} {
		raw, headers := stateless("7", "x", "", "")
		answer := b.later(raw, headers...)
		if p == nil {
			p = b.process()
		}
		n := number(t, p.heard(t))
		p.say(`{"error":{"code":` + code + `,"message":"m"},"id":` + n + `}`)
		resp := <-answer
		if text := body(t, resp); resp.StatusCode != status || text != `{"error":{"code":`+code+`,"message":"m"},"id":7}` {
			t.Errorf("code %s: %s %s", code, resp.Status, text)
		}
	}
}

func TestServerOfTheOlderEraIsNotAskedByNewerClients(t *testing.T) {
	b := newBridge(t, adapter.Options{})
	raw, headers := stateless("1", "server/discover", "", "")
	resp := b.request(http.MethodPost, raw, headers...)
	if text := body(t, resp); resp.StatusCode != http.StatusBadRequest || !strings.Contains(text, "-32601") || !strings.Contains(text, `"id":1`) {
		t.Errorf("%s %s", resp.Status, text)
	}
	if len(b.started) > 0 {
		t.Error("a process was started")
	}
	b.session("2025-11-25") // what such a client does next
}

func TestSubscriptions(t *testing.T) {
	b := newBridge(t, modern)
	raw, headers := stateless(`"sub"`, "subscriptions/listen", "", `"notifications":{"toolsListChanged":true}`)
	one := b.later(raw, headers...)
	p := b.process()
	n := number(t, p.heard(t))
	note := func(id, method string) string {
		return `{"method":"notifications/` + method + `","params":{"_meta":{"io.modelcontextprotocol/subscriptionId":` + id + `}}}`
	}
	p.say(note(n, "subscriptions/acknowledged"))
	e := newEvents(t, <-one)
	if got := e.next(); got != note(`"sub"`, "subscriptions/acknowledged") {
		t.Errorf("the client got %s", got)
	}
	other := b.later(raw, headers...) // another client with the same id
	m := number(t, p.heard(t))
	p.say(note(m, "subscriptions/acknowledged"), note(n, "tools/list_changed"))
	f := newEvents(t, <-other)
	f.next()
	if got := e.next(); got != note(`"sub"`, "tools/list_changed") {
		t.Errorf("the client got %s", got)
	}
	p.say(`{"id":` + n + `,"result":{"_meta":{"io.modelcontextprotocol/subscriptionId":` + n + `}}}`)
	if got := e.next() + e.next(); got != `{"id":"sub","result":{"_meta":{"io.modelcontextprotocol/subscriptionId":"sub"}}}EOF` {
		t.Errorf("the stream ends with %s", got)
	}
	p.say(`{"method":"notifications/cancelled","params":{"requestId":` + m + `}}`)
	if got := f.next(); got != "EOF" {
		t.Errorf("the other stream goes on with %s", got)
	}
}

func TestEndOfAStreamCancelsTheRequest(t *testing.T) {
	b := newBridge(t, modern)
	raw, headers := stateless("1", "x", `,"progressToken":1`, "")
	answer := b.later(raw, headers...)
	p := b.process()
	n := number(t, p.heard(t))
	p.say(`{"method":"notifications/progress","params":{"progressToken":` + n + `}}`)
	_ = (<-answer).Body.Close()
	if got := p.heard(t); got != `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":`+n+`}}` {
		t.Errorf("the server got %s", got)
	}
	p.say(`{"id":` + n + `,"result":"late"}`)
}

func TestCancelledRefersToTheClientsID(t *testing.T) {
	b := newBridge(t, modern)
	raw, headers := stateless(`"a"`, "x", "", "")
	answer := b.later(raw, headers...)
	p := b.process()
	n := number(t, p.heard(t))
	cancel := func(id string) {
		resp := b.request(http.MethodPost, `{"method":"notifications/cancelled","params":{"requestId":`+id+`,"reason":"r"}}`,
			"Mcp-Protocol-Version", "2026-07-28", "Mcp-Method", "notifications/cancelled")
		if resp.StatusCode != http.StatusAccepted {
			t.Errorf("cancel %s: %s", id, resp.Status)
		}
	}
	cancel("99") // answered long ago: accepted, and nothing reaches the server
	cancel(`"a"`)
	if got := p.heard(t); got != `{"method":"notifications/cancelled","params":{"requestId":`+n+`,"reason":"r"}}` {
		t.Errorf("the server got %s", got)
	}
	p.say(`{"id":` + n + `,"error":{"code":-1,"message":"cancelled"}}`)
	body(t, <-answer)
}

func TestLogMessagesGoToWhoAskedForThem(t *testing.T) {
	b := newBridge(t, modern)
	quiet, headers := stateless("1", "x", "", "")
	silent := b.later(quiet, headers...)
	p := b.process()
	n1 := number(t, p.heard(t))
	loud, _ := stateless("2", "x", `,"io.modelcontextprotocol/logLevel":"info"`, "")
	logged := b.later(loud, headers...)
	n2 := number(t, p.heard(t))
	p.say(`{"method":"notifications/message","params":{"data":"l"}}`)
	e := newEvents(t, <-logged)
	if got := e.next(); !strings.Contains(got, "message") {
		t.Errorf("the client got %s", got)
	}
	p.say(`{"id":`+n1+`,"result":1}`, `{"id":`+n2+`,"result":2}`)
	if got := body(t, <-silent); got != `{"jsonrpc":"2.0","id":1,"result":1}` && got != `{"id":1,"result":1}` {
		t.Errorf("the other client got %s", got)
	}
}

func TestRequestsOfAStatelessServerAreRefused(t *testing.T) {
	b := newBridge(t, modern)
	raw, headers := stateless("1", "x", "", "")
	answer := b.later(raw, headers...)
	p := b.process()
	n := number(t, p.heard(t))
	p.say(`{"id":"q","method":"sampling/createMessage"}`)
	if got := p.heard(t); !strings.Contains(got, `"id":"q"`) || !strings.Contains(got, "-32601") {
		t.Errorf("the server got %s", got)
	}
	p.say(`{"id":` + n + `,"result":1}`)
	body(t, <-answer)
}

func TestStatelessServerThatDies(t *testing.T) {
	b := newBridge(t, modern)
	raw, headers := stateless("1", "x", "", "")
	one, two := b.later(raw, headers...), b.later(raw, headers...)
	p := b.process()
	p.heard(t)
	p.heard(t)
	_ = p.out.Close()
	for _, answer := range []<-chan *http.Response{one, two} {
		if text := body(t, <-answer); !strings.Contains(text, `"id":1`) || !strings.Contains(text, `\"jira\"`) {
			t.Errorf("the caller got %s", text)
		}
	}
	next := b.later(raw, headers...)
	second := b.process()
	second.say(`{"id":` + number(t, second.heard(t)) + `,"result":"new"}`)
	if text := body(t, <-next); !strings.Contains(text, "new") {
		t.Errorf("the next caller got %s", text)
	}
}
