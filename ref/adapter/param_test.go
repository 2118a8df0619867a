package adapter_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
)

func TestArgumentsThatHeadersRepeat(t *testing.T) {
	b := newBridge(t, modern)
	raw, headers := stateless("1", "tools/list", "", "")
	answer := b.later(raw, headers...)
	p := b.process()
	n := number(t, p.heard(t))
	const tools = `[{"name":"sql","inputSchema":{"properties":{"region":{"type":"string","x-mcp-header":"Region"},` +
		`"opt":{"properties":{"n":{"type":"integer","x-mcp-header":"N"},"b":{"type":"boolean","x-mcp-header":"B"}}}}}},` +
		`{"name":"plain","inputSchema":{"properties":{"region":{"type":"string"}}}},{"name":"odd","inputSchema":7}]`
	p.say(`{"id":` + n + `,"result":{"tools":` + tools + `}}`)
	body(t, <-answer)
	call := func(tool, arguments string, more ...string) *http.Response {
		raw := fmt.Sprintf(`{"id":1,"method":"tools/call","params":{"name":"%s","arguments":%s,`+meta+`}}`, tool, arguments, "")
		headers := append([]string{"Mcp-Protocol-Version", "2026-07-28", "Mcp-Method", "tools/call", "Mcp-Name", tool}, more...)
		answer := b.later(raw, headers...)
		select {
		case line := <-p.stdin:
			p.say(`{"id":` + number(t, line) + `,"result":{}}`)
			return <-answer
		case resp := <-answer:
			return resp
		}
	}
	for _, row := range []struct {
		tool, arguments string
		headers         []string
		ok              bool
	}{
		{"sql", `{"region":"us"}`, []string{"Mcp-Param-Region", "us"}, true},
		{"sql", `{"region":"us"}`, []string{"Mcp-Param-Region", "eu"}, false},
		{"sql", `{"region":"us"}`, nil, false},
		{"sql", `{"region":"é"}`, []string{"Mcp-Param-Region", "=?base64?w6k=?="}, true},
		{"sql", `{"region":"é"}`, []string{"Mcp-Param-Region", "=?base64?w6k?="}, false},
		{"sql", `{}`, nil, true},
		{"sql", `{"region":null}`, nil, true},
		{"sql", `{"region":null}`, []string{"Mcp-Param-Region", "us"}, false},
		{"sql", `{"opt":{"n":42,"b":true}}`, []string{"Mcp-Param-N", "42.0", "Mcp-Param-B", "true"}, true},
		{"sql", `{"opt":{"n":42,"b":true}}`, []string{"Mcp-Param-N", "43", "Mcp-Param-B", "true"}, false},
		{"sql", `{"opt":{"n":42,"b":true}}`, []string{"Mcp-Param-N", "42", "Mcp-Param-B", "True"}, false},
		{"sql", `{"opt":{"n":1.5}}`, []string{"Mcp-Param-N", "1.5"}, false},
		{"plain", `{"region":"us"}`, nil, true},
		{"plain", `{"region":"us"}`, []string{"Mcp-Param-Region", "eu"}, true},
		{"odd", `{}`, nil, true},
		{"unknown", `{"region":"us"}`, nil, true},
	} {
		resp := call(row.tool, row.arguments, row.headers...)
		text := body(t, resp)
		if row.ok && resp.StatusCode != http.StatusOK || !row.ok && (resp.StatusCode != http.StatusBadRequest || !strings.Contains(text, "-32020")) {
			t.Errorf("%s %s %q: %s %s", row.tool, row.arguments, row.headers, resp.Status, text)
		}
	}
}

func TestInitializeThatIsRefusedLeavesNoSession(t *testing.T) {
	b := newBridge(t, modern)
	answer := b.later(fmt.Sprintf(initialize, "2025-11-25"))
	p := b.process()
	p.heard(t)
	p.say(`{"id":0,"error":{"code":-32022,"message":"use 2026-07-28"}}`)
	if text := body(t, <-answer); !strings.Contains(text, "use 2026-07-28") {
		t.Errorf("the client got %s", text)
	}
	eventually(t, "the process goes on", isGone(p))
}
