package mcp

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"slices"
	"strings"
	"time"

	protocol "github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"
)

// Handler serves the tools by streamable HTTP on /mcp and by legacy SSE on /sse
// and /message. Unless o.AnyHost is set, the library's own check of Host against
// DNS rebinding is on. Of the options only Name, Nonce, Code, Signal, Era, Mute
// and AnyHost mean something here.
func Handler(o Options) http.Handler {
	if o.Mute {
		return http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
			_, _ = io.Copy(io.Discard, r.Body) // only then a client that leaves is noticed
			<-r.Context().Done()
		})
	}
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
	streamable := http.Handler(server.NewStreamableHTTPServer(s, options...))
	if o.Era == EraModern {
		streamable = withoutInitialize(streamable)
	}
	mux.Handle("/mcp", streamable)
	mux.Handle("/sse", events)
	mux.Handle("/message", events)
	return mux
}

// withoutInitialize refuses what the library would still serve, as a server that
// knows only the newer era does.
func withoutInitialize(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		var m message
		if json.Unmarshal(body, &m) == nil && m.Method == string(protocol.MethodInitialize) {
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader(http.StatusNotFound)
			_, _ = fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"error":{"code":%d,"message":"Method not found: initialize"}}`, m.ID, protocol.METHOD_NOT_FOUND)
			return
		}
		r.Body = io.NopCloser(bytes.NewReader(body))
		next.ServeHTTP(w, r)
	})
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
			for _, name := range slices.Sorted(maps.Keys(r.Header)) {
				announce("header %s: %s", name, strings.Join(r.Header[name], ", "))
			}
			inner.ServeHTTP(w, r)
		}),
	}
	stop := context.AfterFunc(ctx, func() { _ = hs.Close() })
	defer stop()
	return hs.Serve(listener)
}
