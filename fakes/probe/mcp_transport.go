package probe

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"maps"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/mark3labs/mcp-go/client/transport"

	"bridgecheck/fakes/attempt"
)

// mcpTransport builds the transport that the attempt names.
func mcpTransport(a attempt.Attempt, last *lastAnswer) (transport.Interface, error) {
	if a.Transport == "stdio" {
		return mcpStdio(a)
	}
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
		if headers := manners(a.Via, kind); headers != nil {
			maps.Copy(headers, a.Headers)
			a.Headers = headers
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
		options := []transport.StreamableHTTPCOption{
			transport.WithHTTPBasicClient(hc), transport.WithHTTPHeaders(a.Headers),
			transport.WithHTTPLogger(slog.New(slog.DiscardHandler)),
		}
		if slices.Contains(a.Args, argListen) {
			options = append(options, transport.WithContinuousListening()) //nolint:staticcheck // deprecated in 2026-07-28, yet agents of before have it
		}
		return transport.NewStreamableHTTP(a.URL, options...)
	case "sse":
		return transport.NewSSE(a.URL, transport.WithHTTPClient(hc), transport.WithHeaders(a.Headers),
			transport.WithSSELogger(slog.New(slog.DiscardHandler)))
	}
	return nil, &noAttempt{"unknown transport " + a.Transport}
}

// mcpStdio starts the command that stands for the server, as agents do.
func mcpStdio(a attempt.Attempt) (transport.Interface, error) {
	var command []string
	if err := json.Unmarshal(a.Data, &command); err != nil || len(command) == 0 {
		return nil, &noAttempt{"transport stdio needs a command as a JSON array"}
	}
	return transport.NewStdioWithOptions(command[0], nil, command[1:], transport.WithCommandLogger(slog.New(slog.DiscardHandler))), nil
}

// dialTunnel opens each connection as a tunnel through the proxy, for clients
// that use CONNECT for http URLs too.
func dialTunnel(proxy *url.URL) func(context.Context, string, string) (net.Conn, error) {
	return func(ctx context.Context, _, hostPort string) (net.Conn, error) {
		c, answer, err := tunnel(ctx, proxy, hostPort) //nolint:bodyclose // what follows a 2xx is the tunnel
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

func (l *lastAnswer) close() {
	if l.base != nil {
		l.base.CloseIdleConnections()
	}
}
