package adapter_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"testing"

	"bridgecheck/ref/adapter"
)

func TestHostAndOriginMustBeOurs(t *testing.T) {
	b := newBridge(t, adapter.Options{})
	for _, row := range []struct {
		host, origin string
		refused      bool
	}{
		{"127.0.0.1:8080", "", false},
		{"JIRA.mcp.internal.", "", false},
		{"jira.mcp.internal:81", "http://jira.mcp.internal", false},
		{"127.0.0.1", "https://127.0.0.1:9", false},
		{"evil.example", "", true},
		{"127.0.0.1.evil.example", "", true},
		{"[::1]:80", "", true},
		{"127.0.0.1", "http://evil.example", true},
		{"127.0.0.1", "http://127.0.0.1.evil.example", true},
		{"127.0.0.1", "http://evil.example/127.0.0.1", true},
		{"127.0.0.1", "http://127.0.0.1@evil.example", true},
		{"127.0.0.1", "null", true},
		{"127.0.0.1", "127.0.0.1", true},
	} {
		headers := []string{"Host", row.host}
		if row.origin != "" {
			headers = append(headers, "Origin", row.origin)
		}
		resp := b.request(http.MethodGet, "", headers...)
		if refused := resp.StatusCode == http.StatusForbidden; refused != row.refused {
			t.Errorf("host %q, origin %q: %s", row.host, row.origin, resp.Status)
		}
	}
}

func TestBearerToken(t *testing.T) {
	next := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = fmt.Fprint(w, r.Header.Get("Authorization"))
	})
	for _, row := range []struct {
		token, header string
		status        int
	}{
		{"t0k3n", "Bearer t0k3n", 200},
		{"t0k3n", "bearer  t0k3n ", 200},
		{"t0k3n", "Bearer t0k3", 401},
		{"t0k3n", "Bearer t0k3n2", 401},
		{"t0k3n", "Basic t0k3n", 401},
		{"t0k3n", "t0k3n", 401},
		{"t0k3n", "", 401},
		{"", "Bearer ", 401},
	} {
		w := httptest.NewRecorder()
		r := httptest.NewRequest(http.MethodPost, "/mcp", nil)
		r.Header.Set("Authorization", row.header)
		adapter.RequireBearer(row.token, next).ServeHTTP(w, r)
		if w.Code != row.status || w.Code == 200 && w.Body.Len() > 0 || w.Code == 401 && w.Header().Get("WWW-Authenticate") == "" {
			t.Errorf("token %q, header %q: %d %s", row.token, row.header, w.Code, w.Body)
		}
	}
}
