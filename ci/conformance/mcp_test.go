package main

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
)

// far answers tools/call with what is given, and everything else well.
func far(t *testing.T, kind, body string) string {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		sent, _ := io.ReadAll(r.Body)
		w.Header().Set("Mcp-Session-Id", "s1")
		switch {
		case strings.Contains(string(sent), `"initialize"`):
			fmt.Fprint(w, `{"jsonrpc":"2.0","id":1,"result":{}}`)
		case r.Header.Get("Mcp-Session-Id") != "s1":
			w.WriteHeader(http.StatusBadRequest)
		case strings.Contains(string(sent), "tools/call"):
			w.Header().Set("Content-Type", kind)
			fmt.Fprint(w, body)
		default:
			w.WriteHeader(http.StatusAccepted)
		}
	}))
	t.Cleanup(s.Close)
	return s.URL
}

func TestHowACallEnds(t *testing.T) {
	const events, plain = "text/event-stream", "application/json"
	for title, c := range map[string]struct{ kind, body, want string }{
		"JSON":                   {plain, `{"jsonrpc":"2.0","id":2,"result":{}}`, "works"},
		"stream with a question": {events, "id: 1\ndata: \n\nevent: message\ndata: {\"id\":2,\"method\":\"roots/list\"}\n\ndata: {\"id\":2,\"result\":{}}\n\n", "works"},
		"error":                  {plain, `{"id":2,"error":{"code":-32000,"message":"gone"}}`, "call: JSON-RPC error -32000: gone"},
		"another's answer":       {plain, `{"id":7,"result":{}}`, "without an answer"},
		"cut stream":             {events, "data: {\"id\":7,\"result\":{}}\n\n", "ended without an answer"},
	} {
		if got := bad(t.Context(), far(t, c.kind, c.body), "echo"); !strings.Contains(got, c.want) {
			t.Errorf("%s: %s", title, got)
		}
	}
	if got := bad(t.Context(), "http://127.0.0.1:1/mcp", "echo"); !strings.Contains(got, "initialize: ") || !strings.Contains(got, "refused") {
		t.Errorf("nobody there: %s", got)
	}
}

func TestMemory(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	if memory(os.Getpid(), "") < 1024 || memory(os.Getpid(), self) != 0 {
		t.Error("this process takes some MiB, and nothing when it is left out")
	}
}

func TestGatewayTable(t *testing.T) {
	f := finding{scenarios: []string{"1/2", "3/4", "5/6"}, kept: []string{"sampling"}, p50: []int64{500, 400}, p99: []int64{9000, 9500}, mib: 4.75}
	for range badServers {
		f.bad = append(f.bad, "a|b")
	}
	text := gatewayTable([]finding{f, f, f})
	for _, want := range []string{"| scenarios passed, 0.2/2026-07-28 | 5/6 |", "| 0.40 ms |", "| 9.00 ms |", "| 4.8 MiB |", `a\|b`} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is not in\n%s", want, text)
		}
	}
}

func TestGatewayCommands(t *testing.T) {
	for _, g := range gateways[1:] {
		if g.carries != nil {
			if line := strings.Join(g.carries("/m", "http://127.0.0.1:81/mcp"), " "); !strings.HasPrefix(line, "/m/mcp-remote/") || !strings.Contains(line, " http://127.0.0.1:81/mcp ") {
				t.Errorf("%s: %s", g.name, line)
			}
			continue
		}
		line := strings.Join(g.command("/m", []string{"/s", "--flag"}, "81"), " ")
		if !strings.Contains(line, "--port 81") || !strings.HasPrefix(line, "/m/") || !strings.Contains(line, "/s --flag") {
			t.Errorf("%s: %s", g.name, line)
		}
	}
}
