package probe_test

import (
	"slices"
	"strings"
	"testing"

	"bridgecheck/fakes/attempt"
	"bridgecheck/fakes/content"
	"bridgecheck/fakes/mcp"
)

func TestHTTPByEveryWay(t *testing.T) {
	a := start(t, "lab", true, "HTTP_PROXY=http://"+labProxy, "HTTPS_PROXY=http://"+labProxy, "NO_PROXY=", "NODE_USE_ENV_PROXY=1")
	for _, c := range []struct{ via, url, want string }{
		{"", "http://" + labHTTP + "/a", "GET /a\n"},
		{"direct", "http://" + labHTTP + "/a%2Fb/../c?x", "GET /a%2Fb/../c?x\n"},
		{"direct", "https://" + labTLS + "/a", "GET /a\n"},
		{"proxy", "http://web.test/a", "GET /a\n"},
		{"connect", "http://web.test/a", "GET /a\n"},
		{"connect", "https://secure.test/a", "GET /a\n"},
		{"environment", "http://web.test/a", "GET /a\n"},
		{"environment", "https://secure.test/a", "GET /a\n"},
		{"environment", "http://" + labHTTP + "/loopback", "GET /loopback\n"},
		{"style:bun", "http://web.test/a", "GET /a\n"},
		{"style:node-fetch-env", "http://web.test/a", "GET /a\n"},
		{"style:python", "https://secure.test/a", "GET /a\n"},
		{"style:node-fetch", "http://" + labHTTP + "/direct", "GET /direct\n"},
	} {
		o := a.must(attempt.Attempt{Op: attempt.OpHTTP, URL: c.url, Via: c.via})
		if o.Status != 200 || o.Phrase != "OK" || o.Body != c.want {
			t.Errorf("%s %s: %d %q %q", c.via, c.url, o.Status, o.Phrase, o.Body)
		}
	}
	o := a.must(attempt.Attempt{Op: attempt.OpHTTP, URL: "http://other.test/", Via: "proxy"})
	if o.Status != 403 || o.Phrase != "Not on the list" || o.Headers["X-Why"] != "policy" || o.Body != "no" || o.Text != "" {
		t.Errorf("absolute form: %+v", o)
	}
	o = a.must(attempt.Attempt{Op: attempt.OpHTTP, URL: "http://other.test/", Via: "connect"})
	if o.Status != 403 || o.Phrase != "Not on the list" || o.Body != "no" || o.Text != "connect" {
		t.Errorf("connect: %+v", o)
	}
	o = a.must(attempt.Attempt{Op: attempt.OpHTTP, URL: "http://" + labHTTP + "/bytes?size=3000000&seed=4", Method: "POST", Data: []byte("body")})
	if o.Bytes != 3000000 || o.SHA256 != content.SHA256(4, 3000000) || len(o.Data) != 64<<10 {
		t.Errorf("%d bytes, %d kept", o.Bytes, len(o.Data))
	}
	o = a.must(attempt.Attempt{Op: attempt.OpHTTP, URL: "http://" + labHTTP + "/status/418", Method: "PUT", Size: 5 << 20, Seed: 1})
	if o.Status != 418 {
		t.Errorf("large upload: %+v", o)
	}
	o = a.must(attempt.Attempt{Op: attempt.OpHTTP, URL: "http://" + labHTTP + "/events?count=1000", Conn: "stream"})
	if o.Status != 200 || o.Headers["Content-Type"] != "text/event-stream" || o.Body != "" {
		t.Errorf("stream: %+v", o)
	}
	for _, want := range []string{"data: 0\n", "\n", "data: 1\n"} {
		if o := a.must(attempt.Attempt{Op: attempt.OpReceive, Conn: "stream", Until: "line"}); string(o.Data) != want {
			t.Errorf("stream: %q, want %q", o.Data, want)
		}
	}
	a.must(attempt.Attempt{Op: attempt.OpClose, Conn: "stream"})
	o = a.must(attempt.Attempt{Op: attempt.OpHTTP, URL: "http://localhost/nowhere", Path: labMCPSocket})
	if o.Status != 404 {
		t.Errorf("over a socket: %+v", o)
	}
	a.want("ECONNREFUSED", attempt.Attempt{Op: attempt.OpHTTP, URL: "http://127.0.0.1:1/"})
	a.want("ECONNREFUSED", attempt.Attempt{Op: attempt.OpHTTP, URL: "http://web.test/", Via: "connect", Address: "127.0.0.1:1"})
}

func TestHTTPRefusesWhatMeansNothing(t *testing.T) {
	a := start(t, "lab", true, "HTTP_PROXY=", "HTTPS_PROXY=", "ALL_PROXY=", "http_proxy=", "https_proxy=", "all_proxy=")
	for _, att := range []attempt.Attempt{
		{URL: "ftp://x/"}, {URL: "x"}, {URL: "http://x/", Via: "pigeon"}, {URL: "http://x/", Via: "style:pigeon"}, {URL: "http://x/", Via: "proxy"},
	} {
		att.Op = attempt.OpHTTP
		if o := a.do(att); o.Refused == "" {
			t.Errorf("%+v: %+v", att, o)
		}
	}
}

func TestMCPByEveryDoor(t *testing.T) {
	a := start(t, "lab", true, "HTTP_PROXY=http://"+labProxy, "NO_PROXY=")
	arguments := map[string]any{"text": "hi"}
	for _, c := range []struct{ transport, via, url, path, era, version string }{
		{"http", "direct", "http://" + labMCP + "/mcp", "", "legacy", "2025-11-25"},
		{"http", "direct", "http://" + labMCP + "/mcp", "", "modern", "2026-07-28"},
		{"http", "direct", "http://" + labMCP + "/mcp", "", "2025-03-26", "2025-03-26"},
		{"http", "proxy", "http://mcp.test/mcp", "", "legacy", "2025-11-25"},
		{"http", "proxy", "http://mcp.test/mcp", "", "modern", "2026-07-28"},
		{"http", "connect", "http://mcp.test/mcp", "", "legacy", "2025-11-25"},
		{"http", "connect", "http://mcp.test/mcp", "", "modern", "2026-07-28"},
		{"http", "environment", "http://mcp.test/mcp", "", "legacy", "2025-11-25"},
		{"sse", "direct", "http://" + labMCP + "/sse", "", "legacy", "2025-11-25"},
		{"sse", "proxy", "http://mcp.test/sse", "", "legacy", "2025-11-25"},
		{"unix", "", "http://localhost/mcp", labMCPSocket, "legacy", "2025-11-25"},
		{"unix", "", "http://localhost/mcp", labMCPSocket, "modern", "2026-07-28"},
	} {
		o := a.must(attempt.Attempt{Op: attempt.OpMCP, URL: c.url, Transport: c.transport, Via: c.via, Path: c.path, Era: c.era, Tool: "echo", Arguments: arguments})
		if o.Text != "hi" || len(o.Names) != 7 || o.Headers["Mcp-Protocol-Version"] != c.version {
			t.Errorf("%+v: %+v", c, o)
		}
	}
	if o := a.want("other", attempt.Attempt{Op: attempt.OpMCP, URL: "http://" + labMCP + "/mcp", Tool: "env", Arguments: map[string]any{"name": "NOT_THERE"}}); o.Text != "not set: NOT_THERE" {
		t.Errorf("tool error: %+v", o)
	}
	a.want("other", attempt.Attempt{Op: attempt.OpMCP, URL: "http://" + labMCP + "/mcp", Tool: "nonesuch"})
	a.want("ECONNREFUSED", attempt.Attempt{Op: attempt.OpMCP, URL: "http://127.0.0.1:1/mcp"})
	if o := a.want("other", attempt.Attempt{Op: attempt.OpMCP, URL: "http://other.test/mcp", Via: "proxy"}); o.Status != 403 || o.Phrase != "Not on the list" {
		t.Errorf("refused: %+v", o)
	}
	if o := a.want("other", attempt.Attempt{Op: attempt.OpMCP, URL: "http://other.test/mcp", Via: "connect"}); !strings.Contains(o.Error, "Not on the list") {
		t.Errorf("refused: %+v", o)
	}
}

func TestMCPClientAnswersTheServer(t *testing.T) {
	a := start(t, "lab", true)
	for _, era := range []string{"legacy", "modern"} {
		for what, method := range map[string]string{
			"sampling": "sampling/createMessage", "elicitation": "elicitation/create", "roots": "roots/list",
		} {
			att := attempt.Attempt{
				Op: attempt.OpMCP, URL: "http://" + labMCP + "/mcp", Era: era,
				Tool: "ask", Arguments: map[string]any{"what": what}, Args: []string{what}, TimeoutMS: 5000,
			}
			if era == "legacy" { // the server's requests come on the GET stream
				att.Args = append(att.Args, "listen")
			}
			o := a.must(att)
			if !strings.Contains(o.Text, "answered by the probe") || len(o.Events) != 1 || o.Events[0] != method {
				t.Errorf("%s %s: %+v", era, what, o)
			}
			if era == "modern" { // a client without the capability; the library's legacy server would wait
				att.Args = nil
				a.want("other", att)
			}
		}
	}
	if o := a.do(attempt.Attempt{Op: attempt.OpMCP, URL: "http://" + labMCP + "/mcp", Args: []string{"dance"}}); o.Refused == "" {
		t.Errorf("%+v", o)
	}
}

func TestMCPClientHearsNotifications(t *testing.T) {
	a := start(t, "lab", true)
	o := a.must(attempt.Attempt{
		Op: attempt.OpMCP, URL: "http://" + labMCP + "/mcp", Era: "legacy", Tool: "notify",
		Args: []string{"progress", "listen"}, Count: 1, TimeoutMS: 5000,
	})
	// The library's HTTP server may lose some of those that come just before a
	// result: only that they are heard is asserted here.
	for _, method := range o.Events {
		if !slices.Contains(mcp.Notified, method) {
			t.Errorf("%s is none of %v", method, mcp.Notified)
		}
	}
	a.want("timeout", attempt.Attempt{Op: attempt.OpMCP, URL: "http://" + labMCP + "/mcp", Count: 1, TimeoutMS: 300})
}
