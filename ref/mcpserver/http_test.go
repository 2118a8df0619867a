package mcpserver_test

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
)

const initialize = `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{"sampling":{}},"clientInfo":{"name":"t","version":"1"}}}`

// do posts a message and returns the response.
func do(c *http.Client, session, body string, headers ...string) (*http.Response, error) {
	req, err := http.NewRequest(http.MethodPost, "http://localhost/mcp", strings.NewReader(body))
	if err != nil {
		return nil, err
	}
	req.Header.Set("Accept", "application/json, text/event-stream")
	req.Header.Set("Content-Type", "application/json")
	if session != "" {
		req.Header.Set("Mcp-Session-Id", session)
	}
	for n := 0; n < len(headers); n += 2 {
		req.Header.Set(headers[n], headers[n+1])
	}
	return c.Do(req)
}

// post posts a message and returns status and body as one string. A stateless
// message gets the headers it must have.
func post(c *http.Client, session, body string) string {
	var headers []string
	if strings.Contains(body, "2026-07-28") {
		_, method, _ := strings.Cut(body, `"method":"`)
		method, _, _ = strings.Cut(method, `"`)
		headers = []string{"Mcp-Protocol-Version", "2026-07-28", "Mcp-Method", method}
		if _, name, ok := strings.Cut(body, `"name":"`); ok {
			name, _, _ = strings.Cut(name, `"`)
			headers = append(headers, "Mcp-Name", name)
		}
	}
	resp, err := do(c, session, body, headers...)
	if err != nil {
		return err.Error()
	}
	defer func() { _ = resp.Body.Close() }()
	all, err := io.ReadAll(resp.Body)
	if err != nil {
		return err.Error()
	}
	return fmt.Sprintf("%d %s", resp.StatusCode, all)
}

// stateless is a message of 2026-07-28 with the given members.
func stateless(members string, params ...string) string {
	all := append([]string{`"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}`}, params...)
	return `{"jsonrpc":"2.0",` + members + `,"params":{` + strings.Join(all, ",") + `}}`
}

// session makes a session and returns its id.
func session(t testing.TB, socket string) string {
	t.Helper()
	resp, err := do(httpClient(t, socket), "", initialize)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	body, err := io.ReadAll(resp.Body)
	id := resp.Header.Get("Mcp-Session-Id")
	if err != nil || resp.StatusCode != http.StatusOK || id == "" || !strings.Contains(string(body), `"id":0`) {
		t.Fatalf("initialize: %s %q %s %v", resp.Status, id, body, err)
	}
	return id
}
