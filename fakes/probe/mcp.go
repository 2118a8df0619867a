package probe

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/mark3labs/mcp-go/client"
	"github.com/mark3labs/mcp-go/client/transport"
	"github.com/mark3labs/mcp-go/mcp"

	"bridgecheck/fakes/attempt"
)

// Eras of the protocol: with an initialize handshake, or stateless. A version
// is an era too, and is offered as it stands.
const (
	eraLegacy = "legacy"
	eraModern = "modern"
)

// mcp is one client session: initialise, list the tools, call one when Tool is
// set. Transport http or sse goes to URL by Via; unix goes to the socket Path
// and takes only the path from URL. Headers hold the negotiated
// Mcp-Protocol-Version and the Mcp-Session-Id; Status and Phrase are those of
// the last HTTP answer, Text the text of the result. A modern client that finds
// an old server falls back by itself: the version tells.
func (p *Probe) mcp(ctx context.Context, a attempt.Attempt) attempt.Observation {
	last := &lastAnswer{}
	trans, err := mcpTransport(a, last)
	if err != nil {
		return failed(err)
	}
	version := mcp.LATEST_LEGACY_PROTOCOL_VERSION
	switch {
	case a.Era == eraModern:
		version = mcp.LATEST_PROTOCOL_VERSION
	case a.Era == "", a.Era == eraLegacy:
	case mcp.IsValidProtocolVersion(a.Era):
		version = a.Era
	default:
		return refused("unknown era %q", a.Era)
	}
	c := client.NewClient(trans, client.WithProtocolVersion(version))
	var o attempt.Observation
	note(&o, session(ctx, c, a, &o))
	_ = c.Close()
	last.close()
	o.Status, o.Phrase = last.status, last.phrase
	return o
}

// session is what is said on one client connection.
func session(ctx context.Context, c *client.Client, a attempt.Attempt, o *attempt.Observation) error {
	if err := c.Start(ctx); err != nil {
		return fmt.Errorf("start: %w", err)
	}
	request := mcp.InitializeRequest{}
	request.Params.ClientInfo = mcp.Implementation{Name: "probe", Version: "1"}
	if _, err := c.Initialize(ctx, request); err != nil {
		return fmt.Errorf("initialize: %w", err)
	}
	o.Headers = map[string]string{"Mcp-Protocol-Version": c.ProtocolVersion()}
	if id := c.GetSessionId(); id != "" {
		o.Headers["Mcp-Session-Id"] = id
	}
	tools, err := c.ListTools(ctx, mcp.ListToolsRequest{})
	if err != nil {
		return fmt.Errorf("tools/list: %w", err)
	}
	for _, tool := range tools.Tools {
		o.Names = append(o.Names, tool.Name)
	}
	if a.Tool == "" {
		return nil
	}
	call := mcp.CallToolRequest{}
	call.Params.Name, call.Params.Arguments = a.Tool, a.Arguments
	result, err := c.CallTool(ctx, call)
	if err != nil {
		return fmt.Errorf("tools/call: %w", err)
	}
	var text []string
	for _, item := range result.Content {
		if t, isText := mcp.AsTextContent(item); isText {
			text = append(text, t.Text)
		}
	}
	o.Text = strings.Join(text, "\n")
	if result.IsError {
		return fmt.Errorf("tools/call: the tool reports an error: %s", o.Text)
	}
	return nil
}

// mcpTransport builds the transport that the attempt names.
func mcpTransport(a attempt.Attempt, last *lastAnswer) (transport.Interface, error) {
	t, err := parseTarget(a.URL)
	if err != nil {
		return nil, err
	}
	last.base = &http.Transport{}
	if a.Transport == "unix" {
		if a.Path == "" {
			return nil, &noAttempt{"transport unix needs a path"}
		}
		last.base.DialContext = func(ctx context.Context, _, _ string) (net.Conn, error) {
			return new(net.Dialer).DialContext(ctx, "unix", a.Path)
		}
	} else {
		kind, proxy, err := way(a.Via, a.Address, t)
		if err != nil {
			return nil, err
		}
		switch kind {
		case viaProxy:
			last.base.Proxy = http.ProxyURL(proxy)
		case viaConnect:
			last.base.DialContext = dialTunnel(proxy)
		}
	}
	hc := &http.Client{Transport: last}
	switch a.Transport {
	case "", "http", "unix":
		return transport.NewStreamableHTTP(a.URL, transport.WithHTTPBasicClient(hc), transport.WithHTTPHeaders(a.Headers))
	case "sse":
		return transport.NewSSE(a.URL, transport.WithHTTPClient(hc), transport.WithHeaders(a.Headers))
	}
	return nil, &noAttempt{"unknown transport " + a.Transport}
}

// dialTunnel opens each connection as a tunnel through the proxy, for clients
// that use CONNECT for http URLs too.
func dialTunnel(proxy *url.URL) func(context.Context, string, string) (net.Conn, error) {
	return func(ctx context.Context, _, hostPort string) (net.Conn, error) {
		c, answer, err := tunnel(ctx, proxy, hostPort)
		if err != nil {
			return nil, err
		}
		if answer.StatusCode/100 != 2 {
			_ = c.Close()
			return nil, errors.New("proxy refused the tunnel: " + answer.Status)
		}
		_ = c.SetDeadline(time.Time{})
		return buffered{c}, nil
	}
}

// lastAnswer is a round tripper that remembers the last answer, which the
// client library hides.
type lastAnswer struct {
	base *http.Transport

	mu     sync.Mutex
	status int
	phrase string
}

func (l *lastAnswer) RoundTrip(request *http.Request) (*http.Response, error) {
	answer, err := l.base.RoundTrip(request)
	if err == nil && request.Method != http.MethodDelete {
		l.mu.Lock()
		l.status = answer.StatusCode
		_, l.phrase, _ = strings.Cut(answer.Status, " ")
		l.mu.Unlock()
	}
	return answer, err
}

func (l *lastAnswer) close() { l.base.CloseIdleConnections() }
