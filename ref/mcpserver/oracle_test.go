package mcpserver_test

import (
	"context"
	"fmt"
	"io"
	"os"
	"strings"
	"syscall"
	"testing"

	"github.com/mark3labs/mcp-go/client"
	"github.com/mark3labs/mcp-go/client/transport"
	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"

	"bridgecheck/ref/adapter"
)

// oracleMain is an MCP server made by others, of both eras.
func oracleMain() {
	s := server.NewMCPServer("oracle", "1", server.WithToolCapabilities(true), server.WithLogging())
	s.AddTool(mcp.NewTool("echo", mcp.WithString("text")),
		func(_ context.Context, r mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			return mcp.NewToolResultText("echo:" + r.GetString("text", "")), nil
		})
	s.AddTool(mcp.NewTool("ask"),
		func(ctx context.Context, _ mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			//nolint:staticcheck // the older era has it
			answer, err := s.RequestSampling(ctx, mcp.CreateMessageRequest{CreateMessageParams: mcp.CreateMessageParams{
				MaxTokens: 5, Messages: []mcp.SamplingMessage{{Role: mcp.RoleUser, Content: mcp.NewTextContent("?")}},
			}})
			if err != nil {
				return mcp.NewToolResultError(err.Error()), nil
			}
			return mcp.NewToolResultText(fmt.Sprint(answer.Content)), nil
		})
	if err := server.ServeStdio(s); err != nil && err != io.EOF {
		fmt.Fprintln(os.Stderr, err)
		syscall.Exit(1)
	}
	syscall.Exit(0)
}

// sampler answers the server's question.
type sampler struct{}

func (sampler) CreateMessage(context.Context, mcp.CreateMessageRequest) (*mcp.CreateMessageResult, error) {
	return &mcp.CreateMessageResult{
		SamplingMessage: mcp.SamplingMessage{Role: mcp.RoleAssistant, Content: mcp.NewTextContent("forty-two")}, Model: "m",
	}, nil
}

func oracleClient(t *testing.T, socket string, opts ...client.ClientOption) *client.Client {
	t.Helper()
	tr, err := transport.NewStreamableHTTP("http://localhost/mcp", transport.WithHTTPBasicClient(httpClient(t, socket)))
	if err != nil {
		t.Fatal(err)
	}
	c := client.NewClient(tr, append(opts, client.WithSamplingHandler(sampler{}))...)
	if err := c.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	return c
}

func sseClient(t *testing.T, socket string, opts ...client.ClientOption) *client.Client {
	t.Helper()
	tr, err := transport.NewSSE("http://localhost/sse", transport.WithHTTPClient(httpClient(t, socket)))
	if err != nil {
		t.Fatal(err)
	}
	c := client.NewClient(tr, append(opts, client.WithSamplingHandler(sampler{}))...)
	if err := c.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	if _, err := c.Initialize(t.Context(), mcp.InitializeRequest{}); err != nil {
		t.Fatal(err)
	}
	return c
}

// pipeClient speaks stdio to the bridge.
func pipeClient(t *testing.T, socket string, opts ...client.ClientOption) *client.Client {
	t.Helper()
	inR, inW := io.Pipe()
	outR, outW := io.Pipe()
	done := make(chan error, 1)
	go func() {
		done <- adapter.Pipe(context.Background(), socket, inR, outW)
		_ = outW.Close()
		_ = inR.Close()
	}()
	tr := transport.NewIO(outR, inW, io.NopCloser(strings.NewReader("")))
	c := client.NewClient(tr, append(opts, client.WithSamplingHandler(sampler{}))...)
	if err := c.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = inW.Close()
		if err := <-done; err != nil {
			t.Error(err)
		}
		_ = c.Close()
	})
	if _, err := c.Initialize(t.Context(), mcp.InitializeRequest{}); err != nil {
		t.Fatal(err)
	}
	return c
}

func call(t *testing.T, c *client.Client, tool string, args map[string]any) string {
	t.Helper()
	r, err := c.CallTool(t.Context(), mcp.CallToolRequest{Params: mcp.CallToolParams{Name: tool, Arguments: args}})
	if err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	for _, content := range r.Content {
		if text, ok := content.(mcp.TextContent); ok {
			out.WriteString(text.Text)
		}
	}
	return out.String()
}

// TestClientsAndServersOfOthers pairs mcp-go's client of each revision with its
// server, and with our fake of the older era.
func TestClientsAndServersOfOthers(t *testing.T) {
	t.Parallel()
	m, _, _ := newManager(t)
	both := start(t, m, "both", "oracle")
	older := start(t, m, "older", "discover-ignored")
	for _, version := range []string{"", "2026-07-28", "2025-11-25", "2025-06-18", "2025-03-26"} {
		t.Run("version "+version, func(t *testing.T) {
			c := oracleClient(t, both, client.WithProtocolVersion(version))
			r, err := c.Initialize(t.Context(), mcp.InitializeRequest{})
			if err != nil {
				t.Fatal(err)
			}
			if want := version; want != "" && r.ProtocolVersion != want || want == "" && r.ProtocolVersion != "2026-07-28" {
				t.Errorf("negotiated %s", r.ProtocolVersion)
			}
			if tools, err := c.ListTools(t.Context(), mcp.ListToolsRequest{}); err != nil || len(tools.Tools) != 2 {
				t.Errorf("tools: %v, %v", tools, err)
			}
			if got := call(t, c, "echo", map[string]any{"text": "é"}); got != "echo:é" {
				t.Errorf("echo gave %q", got)
			}
			if got := call(t, c, "ask", nil); r.ProtocolVersion < "2026" && !strings.Contains(got, "forty-two") {
				t.Errorf("the server's question was answered %q", got)
			}
		})
	}
	for title, opt := range map[string]client.ClientOption{
		"older client": client.WithProtocolVersion("2025-06-18"), "client that asks first": client.WithProtocolVersion(""),
	} {
		t.Run("HTTP with SSE, "+title, func(t *testing.T) {
			c := sseClient(t, both, opt)
			if got := call(t, c, "echo", map[string]any{"text": "é"}); got != "echo:é" {
				t.Errorf("echo gave %q", got)
			}
			call(t, sseClient(t, older, opt), "echo", nil)
		})
	}
	for _, version := range []string{"", "2025-11-25"} {
		t.Run("stdio "+version, func(t *testing.T) {
			c := pipeClient(t, both, client.WithProtocolVersion(version))
			if got := call(t, c, "echo", map[string]any{"text": "é"}); got != "echo:é" {
				t.Errorf("echo gave %q", got)
			}
			if got := call(t, c, "ask", nil); version != "" && !strings.Contains(got, "forty-two") {
				t.Errorf("the server's question was answered %q", got)
			}
			call(t, pipeClient(t, older), "echo", nil)
		})
	}
	t.Run("newer client, older server", func(t *testing.T) {
		c := oracleClient(t, older)
		r, err := c.Initialize(t.Context(), mcp.InitializeRequest{})
		if err != nil || r.ProtocolVersion != "2025-11-25" {
			t.Fatalf("the fallback gave %v, %v", r, err)
		}
		call(t, c, "echo", nil)
	})
}
