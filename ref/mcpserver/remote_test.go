package mcpserver_test

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"testing"
	"time"

	"github.com/mark3labs/mcp-go/client"
	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"

	"bridgecheck/ref/mcpserver"
)

// oracleHandler is a server that speaks HTTP itself and, on a loopback address,
// refuses a Host that is not one.
func oracleHandler(opts ...server.StreamableHTTPOption) http.Handler {
	s := server.NewMCPServer("remote", "1", server.WithToolCapabilities(true))
	s.AddTool(mcp.NewTool("echo", mcp.WithString("text")),
		func(_ context.Context, r mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			return mcp.NewToolResultText("remote:" + r.GetString("text", "")), nil
		})
	return server.NewStreamableHTTPServer(s, opts...)
}

func TestServerThatSpeaksHTTPItself(t *testing.T) {
	t.Parallel()
	older := server.WithStreamableHTTPProtocolVersions(mcp.LegacyProtocolVersions()...)
	for title, handler := range map[string]http.Handler{"both eras": oracleHandler(), "older era": oracleHandler(older)} {
		t.Run(title, func(t *testing.T) {
			far := httptest.NewServer(handler)
			defer far.Close()
			m, events, _ := newManager(t)
			cfg := mcpserver.Config{URL: far.URL + "/mcp", Hosts: []string{"jira.corp.test"}}
			socket, err := m.Start(t.Context(), "jira", cfg)
			if err != nil {
				t.Fatal(err)
			}
			events.await(t, "server-started", far.URL)
			c := oracleClient(t, socket)
			if _, err := c.Initialize(t.Context(), mcp.InitializeRequest{}); err != nil {
				t.Fatal(err)
			}
			if got := call(t, c, "echo", map[string]any{"text": "x"}); got != "remote:x" {
				t.Errorf("echo gave %q", got)
			}
			for host, status := range map[string]int{"jira.corp.test:81": 200, "jira.mcp.internal": 200, "evil.example": 403} {
				direct := probeHost(t, far.URL+"/mcp", http.DefaultClient, host)
				bridged := probeHost(t, "http://localhost/mcp", httpClient(t, socket), host)
				if direct != http.StatusForbidden || bridged != status {
					t.Errorf("host %s: %d directly, %d through the bridge, want 403 and %d", host, direct, bridged, status)
				}
			}
			if err := m.HealthCheck(t.Context(), "jira"); err != nil {
				t.Error(err)
			}
			far.Close()
			if err := m.HealthCheck(t.Context(), "jira"); !errors.Is(err, mcpserver.ErrDead) {
				t.Errorf("health without the server: %v", err)
			}
			if got := post(httpClient(t, socket), "", initialize); !containsAll(got, []string{"502", `\"jira\"`}) {
				t.Errorf("a call without the server got %s", got)
			}
		})
	}
}

// probeHost sends initialize with the given Host and returns the status.
func probeHost(t *testing.T, url string, c *http.Client, host string) int {
	t.Helper()
	req, err := http.NewRequest(http.MethodPost, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Host = host
	resp, err := c.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	_ = resp.Body.Close()
	if resp.StatusCode != http.StatusForbidden {
		return http.StatusOK // an empty body is refused by the server, which is to be reached
	}
	return resp.StatusCode
}

// Each of the loopback addresses does, and a server that has only ::1 is found.
func TestServerAtLocalhost(t *testing.T) {
	t.Parallel()
	for _, address := range []string{"127.0.0.1:0", "[::1]:0"} {
		ln, err := net.Listen("tcp", address)
		if err != nil {
			t.Logf("no %s here: %v", address, err)
			continue
		}
		far := &http.Server{Handler: oracleHandler()}
		go func() { _ = far.Serve(ln) }()
		defer func() { _ = far.Close() }()
		m, _, _ := newManager(t)
		_, port, _ := net.SplitHostPort(ln.Addr().String())
		socket, err := m.Start(t.Context(), "far", mcpserver.Config{URL: "http://localhost:" + port + "/mcp"})
		if err != nil {
			t.Fatal(err)
		}
		c := oracleClient(t, socket)
		if _, err := c.Initialize(t.Context(), mcp.InitializeRequest{}); err != nil {
			t.Fatal(err)
		}
		if got := call(t, c, "echo", map[string]any{"text": "z"}); got != "remote:z" {
			t.Errorf("%s: echo gave %q", address, got)
		}
	}
}

func TestServerOnAUnixSocket(t *testing.T) {
	t.Parallel()
	m, _, dir := newManager(t)
	path := filepath.Join(t.TempDir(), "far.sock")
	ln, err := net.Listen("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	far := &http.Server{Handler: oracleHandler()}
	go func() { _ = far.Serve(ln) }()
	defer func() { _ = far.Close() }()
	socket, err := m.Start(t.Context(), "far", mcpserver.Config{URL: "unix:" + path})
	if err != nil || filepath.Dir(socket) != dir {
		t.Fatal(socket, err)
	}
	c := oracleClient(t, socket, client.WithProtocolVersion("2025-06-18"))
	if _, err := c.Initialize(t.Context(), mcp.InitializeRequest{}); err != nil {
		t.Fatal(err)
	}
	if got := call(t, c, "echo", map[string]any{"text": "y"}); got != "remote:y" {
		t.Errorf("echo gave %q", got)
	}
}

func TestURLThatIsNoMCPServer(t *testing.T) {
	t.Parallel()
	for title, handler := range map[string]http.HandlerFunc{
		"web page": func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("<html>hello</html>")) },
		"404":      http.NotFound,
		"silent": func(_ http.ResponseWriter, r *http.Request) {
			_, _ = io.Copy(io.Discard, r.Body) // else the end of the client is not noticed
			<-r.Context().Done()
		},
	} {
		t.Run(title, func(t *testing.T) {
			far := httptest.NewServer(handler)
			defer far.Close()
			m, _, _ := newManager(t)
			_, err := m.Start(t.Context(), "far", mcpserver.Config{URL: far.URL, StartTimeout: 300 * time.Millisecond})
			if _, ok := errors.AsType[*mcpserver.StartError](err); !ok {
				t.Errorf("error is %v", err)
			}
		})
	}
}
