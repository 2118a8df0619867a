package mcp

import (
	"context"
	"net"
	"net/http"
	"strings"
	"time"

	protocol "github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"
)

// Handler serves the tools by streamable HTTP on /mcp and by legacy SSE on /sse
// and /message. Unless o.AnyHost is set, the library's own check of Host against
// DNS rebinding is on. Of the options only Name, Nonce, Code, Signal, Era and
// AnyHost mean something here.
func Handler(o Options) http.Handler {
	options := []server.StreamableHTTPOption{server.WithDisableLocalhostProtection(o.AnyHost)}
	switch o.Era {
	case EraLegacy:
		options = append(options, server.WithStreamableHTTPProtocolVersions(protocol.LegacyProtocolVersions()...))
	case EraModern:
		options = append(options, server.WithStreamableHTTPProtocolVersions(protocol.LATEST_PROTOCOL_VERSION))
	}
	s := newServer(o, byServer)
	events := server.NewSSEServer(s, server.WithSSEDisableLocalhostProtection(o.AnyHost))
	mux := http.NewServeMux()
	mux.Handle("/mcp", server.NewStreamableHTTPServer(s, options...))
	mux.Handle("/sse", events)
	mux.Handle("/message", events)
	return mux
}

// serveHTTP serves [Handler] until ctx ends.
func (o Options) serveHTTP(ctx context.Context, announce func(string, ...any)) error {
	network, address := "tcp", o.HTTP
	if path, isPath := strings.CutPrefix(o.HTTP, "unix:"); isPath {
		network, address = "unix", path
	}
	listener, err := new(net.ListenConfig).Listen(ctx, network, address)
	if err != nil {
		return err
	}
	announce("listening %s", listener.Addr())
	inner := Handler(o)
	hs := &http.Server{
		ReadHeaderTimeout: 10 * time.Second,
		Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			announce("request %s %s %s", r.Method, r.URL.Path, r.Host)
			inner.ServeHTTP(w, r)
		}),
	}
	stop := context.AfterFunc(ctx, func() { _ = hs.Close() })
	defer stop()
	return hs.Serve(listener)
}
