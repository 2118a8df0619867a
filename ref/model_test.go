package ref_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"bridgecheck/ref"
	"bridgecheck/ref/config"
)

const credential = "sk-0123-of-the-host"

// api is a model's API that answers with what it was asked.
func api(t *testing.T) string {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		if strings.HasSuffix(r.URL.Path, "/cut") {
			w.Header().Set("Content-Length", "100")
			_, _ = w.Write([]byte("beginning"))
			return
		}
		var keys []string
		for _, f := range []string{"Authorization", "X-Api-Key", "X-Goog-Api-Key", "Api-Key", "Cookie"} {
			for _, v := range r.Header.Values(f) {
				keys = append(keys, f+"="+strings.ReplaceAll(v, credential, "KEY"))
			}
		}
		fmt.Fprint(w, r.Method, " ", r.URL.RequestURI(), " ", strings.Join(keys, " "), string(body))
	}))
	t.Cleanup(s.Close)
	return s.URL
}

// PTH-001, PTH-003: the rest of the proxy port is the model's, with the host's
// key in the form of the agent's own.
func TestModel(t *testing.T) {
	t.Parallel()
	needNamespaces(t)
	const at = "http://127.0.0.1:18080"
	asks := []string{
		"get " + at + "/v1/messages?beta=true|x-api-key: mine|Cookie: a=b", "get " + at + "/v1/responses|Authorization: Bearer mine",
		"get " + at + "/v1/messages|Anthropic-Version: 2023-06-01", "get " + at + "/v1/models",
		"get " + at + "/v1beta/models/m:generate?alt=sse&key=mine", "get " + at + "/v1/m|X-Goog-Api-Key: mine|Authorization: Bearer mine",
		"get " + at + "/openai/m|Api-Key: mine", "get " + at + "/v1/%6dodels", "get " + at + "/v1/cut",
		"trace " + at + "/v1/models", "get " + at + "/mcp/none", "get " + at + "/mcp", "get " + at + "/v1/../mcp/jira",
		"get " + at + "/v1/x|Origin: http://evil.test", "get " + at + "/v1/x|Origin: http://localhost:18080",
		"get " + at + "/v1/x|Connection: Authorization, X-Api-Key",
	}
	wanted := []string{
		"200 GET /base/v1/messages?beta=true X-Api-Key=KEY", "200 GET /base/v1/responses Authorization=Bearer KEY",
		"200 GET /base/v1/messages X-Api-Key=KEY", "200 GET /base/v1/models Authorization=Bearer KEY",
		"200 GET /base/v1beta/models/m:generate?alt=sse X-Goog-Api-Key=KEY", "200 GET /base/v1/m X-Goog-Api-Key=KEY",
		"200 GET /base/openai/m Api-Key=KEY", "200 GET /base/v1/%6dodels Authorization=Bearer KEY", "200 cut after 9",
		"405 TRACE is not passed on", "404", "404", "400",
		"403", "200 GET /base/v1/x Authorization=Bearer KEY", "200 GET /base/v1/x Authorization=Bearer KEY",
	}
	got, r := answers(t, config.Spec{
		Servers: []config.Server{server(t, "jira", "one")}, Model: &config.Model{URL: api(t) + "/base", Credential: credential},
	}, asks...)
	for i, text := range got {
		if strings.HasPrefix(text, "40") && !strings.HasPrefix(text, "405") {
			got[i] = text[:3] // a refusal of the proxy's own
		}
	}
	for i := range asks {
		if i >= len(got) || got[i] != wanted[i] {
			t.Errorf("%s: %q, want %q", asks[i], got[min(i, len(got)-1)], wanted[i])
		}
	}
	if strings.Contains(r.text.String()+r.stderr, credential) {
		t.Error("the credential is told")
	}
}

// ESC-012: the agent gets the door and not the key; the agent's own is passed on
// where the specification has none.
func TestModelEnvironment(t *testing.T) {
	t.Parallel()
	needNamespaces(t)
	url := api(t)
	for _, row := range []struct{ network, credential, asked, want string }{
		{"", credential, "|x-api-key: mine", "200 GET /v1 X-Api-Key=KEY"},
		{"", "", "|x-api-key: mine", "200 GET /v1 X-Api-Key=mine"},
		{"shared", credential, "|x-api-key: $BRIDGE_MODEL_TOKEN", "200 GET /v1 X-Api-Key=KEY"},
		{"shared", credential, "|Authorization: Bearer $BRIDGE_MODEL_TOKEN", "200 GET /v1 Authorization=Bearer KEY"},
		{"shared", credential, "|x-api-key: mine", "401 the key for this door is BRIDGE_MODEL_TOKEN"},
		{"shared", credential, "", "401 the key for this door is BRIDGE_MODEL_TOKEN"},
	} {
		a := agent(t, "ask", "get $BRIDGE_MODEL_URL/v1"+row.asked, "environment")
		r := phase(context.Background(), t, config.Spec{Agent: a, Network: row.network, Model: &config.Model{URL: url, Credential: row.credential}})
		wantExit(t, r, ref.Exit{Reason: ref.ReasonAgent})
		lines := strings.SplitN(r.out, "\n", 2)
		if lines[0] != row.want {
			t.Errorf("%+v: %q", row, lines[0])
		}
		if strings.Contains(r.out+r.text.String(), credential) {
			t.Errorf("%+v: the agent knows the key", row)
		}
	}
}

// PTH-004: each piece of an answer passes before the next is sent.
func TestModelStream(t *testing.T) {
	t.Parallel()
	needNamespaces(t)
	const pieces = 5
	asked := make(chan struct{}, pieces)
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/next" {
			asked <- struct{}{}
			return
		}
		for range pieces {
			<-asked
			_, _ = w.Write([]byte("x"))
			w.(http.Flusher).Flush()
		}
	}))
	t.Cleanup(s.Close)
	got, _ := answers(t, config.Spec{Model: &config.Model{URL: s.URL}}, "stream http://127.0.0.1:18080")
	if !slices.Equal(got, []string{"xxxxx"}) {
		t.Errorf("got %q", got)
	}
}
