package adapter_test

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"bridgecheck/ref/adapter"
	"bridgecheck/ref/adapter/jsonrpc"
)

// answering is a server that answers every request by its own text.
func answering(use adapter.Use) *process {
	p := newProcess(use, 1<<16)
	go func() {
		for line := range p.stdin {
			if m, err := jsonrpc.Parse([]byte(line)); err == nil && m.Kind == jsonrpc.Request {
				p.say(`{"id":` + string(m.ID.Of(m.Raw)) + `,"result":{"request":` + line + `}}`)
			}
		}
	}()
	return p
}

// FuzzHTTP demands that every request gets an answer: a status that fits, and a
// body that is JSON or a stream.
func FuzzHTTP(f *testing.F) {
	const method = `{"jsonrpc":"2.0","id":1,"method":"m"}`
	modern, _ := stateless("1", "m", `,"progressToken":1`, "")
	f.Add("POST", "/mcp", "", "", "", "", method)
	f.Add("POST", "/mcp", "session", "2025-11-25", "", "", method)
	f.Add("POST", "/mcp", "", "2026-07-28", "m", "", modern)
	f.Add("GET", "/mcp", "session", "", "", "0-3", "")
	f.Add("GET", "/sse", "", "", "", "", "")
	f.Add("POST", "/messages?sessionId=session", "", "", "", "", method)
	f.Add("DELETE", "/mcp", "session", "", "", "", "")
	f.Add("POST", "/mcp", "", "00000", "", "", `{"method":"n"}`)
	f.Fuzz(func(t *testing.T, verb, target, session, version, method, last, body string) {
		a := adapter.New(adapter.Options{
			Server: "s", MessageBytes: 1 << 16, Versions: []string{"2026-07-28"},
			AllowHost: func(h string) bool { return h == "localhost" },
			Start: func(_ context.Context, use adapter.Use) (adapter.Process, error) {
				return answering(use), nil
			},
		})
		defer a.Close()
		init := httptest.NewRequest(http.MethodPost, "http://localhost/mcp", strings.NewReader(`{"id":0,"method":"initialize"}`))
		w := httptest.NewRecorder()
		a.ServeHTTP(w, init)
		id := w.Header().Get("Mcp-Session-Id")
		r, err := http.NewRequest(verb, "http://localhost/mcp", strings.NewReader(body))
		if err != nil {
			return // no method that net/http would let through
		}
		if r.URL, err = r.URL.Parse(strings.ReplaceAll(target, "session", id)); err != nil {
			return
		}
		for key, v := range map[string]string{"Mcp-Session-Id": strings.ReplaceAll(session, "session", id), "Mcp-Protocol-Version": version, "Mcp-Method": method, "Last-Event-Id": last} {
			if v != "" {
				r.Header.Set(key, v)
			}
		}
		// A stream has no end of its own.
		defer time.AfterFunc(20*time.Millisecond, a.Close).Stop()
		w = httptest.NewRecorder()
		a.ServeHTTP(w, r)
		check(t, w)
	})
}

func check(t *testing.T, w *httptest.ResponseRecorder) {
	t.Helper()
	resp := w.Result()
	switch ct := resp.Header.Get("Content-Type"); ct {
	case "application/json":
		if !json.Valid(w.Body.Bytes()) {
			t.Errorf("%s: %q", resp.Status, w.Body)
		}
	case "text/event-stream":
		for line := range strings.Lines(w.Body.String()) {
			name, _, ok := strings.Cut(line, ":")
			if line != "\n" && (!ok || name != "" && name != "data" && name != "event" && name != "id") {
				t.Errorf("the stream has %q", line)
			}
		}
	default:
		if w.Body.Len() > 0 || resp.StatusCode/100 != 2 {
			t.Errorf("%s with content type %q: %q", resp.Status, ct, w.Body)
		}
	}
}
