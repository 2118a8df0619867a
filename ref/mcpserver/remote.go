package mcpserver

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"strings"
	"time"

	"bridgecheck/ref/adapter"
	"bridgecheck/ref/adapter/jsonrpc"
)

// remote is a server that speaks HTTP itself and was started by somebody else.
type remote struct {
	name      string
	url       *url.URL // as requests are sent, also to a Unix socket
	transport *http.Transport
}

func newRemote(name, configured string) (*remote, error) {
	u, err := parseURL(configured)
	if err != nil {
		return nil, err
	}
	r := &remote{name: name, url: u, transport: &http.Transport{DisableCompression: true}} // no proxy: the URL is where it is
	switch {
	case u.Scheme == "unix":
		socket := u.Host
		r.url = &url.URL{Scheme: "http", Host: "localhost", Path: u.Path}
		r.transport.DialContext = func(ctx context.Context, _, _ string) (net.Conn, error) {
			var d net.Dialer
			return d.DialContext(ctx, "unix", socket)
		}
	case strings.EqualFold(u.Hostname(), "localhost"):
		r.transport.DialContext = dialLocalhost
	}
	return r, nil
}

// dialLocalhost asks no resolver: localhost is this host, whatever a name server
// or a file says (RFC 6761 section 6.3). A server may have only one of the two
// addresses, as those of Node that listen on the name have.
func dialLocalhost(ctx context.Context, network, address string) (net.Conn, error) {
	_, port, err := net.SplitHostPort(address)
	if err != nil {
		return nil, err
	}
	var d net.Dialer
	var failed []error
	for _, loopback := range []string{"127.0.0.1", "::1"} {
		conn, err := d.DialContext(ctx, network, net.JoinHostPort(loopback, port))
		if err == nil {
			return conn, nil
		}
		failed = append(failed, err)
	}
	return nil, errors.Join(failed...)
}

func (r *remote) close() { r.transport.CloseIdleConnections() }

// handler passes requests on. SDK servers refuse a Host that is not a loopback
// one; ours is checked first, so that rewriting it does not undo their
// protection against DNS rebinding. Origin is ours as well by then.
func (r *remote) handler(allow func(string) bool, log *slog.Logger) http.Handler {
	proxy := &httputil.ReverseProxy{
		Transport:     r.transport,
		FlushInterval: -1,
		Rewrite: func(p *httputil.ProxyRequest) {
			p.Out.URL.Scheme, p.Out.URL.Host, p.Out.URL.Path, p.Out.URL.RawPath = r.url.Scheme, r.url.Host, r.url.Path, r.url.RawPath
			p.Out.Host = r.url.Host
			p.Out.Header.Del("Origin")
			if n := p.In.ContentLength; n > 0 {
				p.Out.Body = bounded{io.LimitReader(p.In.Body, n), p.In.Body}
			}
		},
		ErrorLog: slog.NewLogLogger(log.Handler(), slog.LevelDebug), // a stream that its client left
		ErrorHandler: func(w http.ResponseWriter, _ *http.Request, err error) {
			log.Warn("pass request on", "server", r.name, "cause", err)
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader(http.StatusBadGateway)
			_, _ = w.Write(jsonrpc.NewError(nil, jsonrpc.CodeInternal, fmt.Sprintf("server %q: %v", r.name, err), nil))
		},
	}
	return adapter.Guard(allow, http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		if req.URL.Path != "/mcp" && req.URL.Path != "/mcp/" {
			http.NotFound(w, req)
			return
		}
		proxy.ServeHTTP(w, req)
	}))
}

// bounded is a body that is not read past its known end. The transport looks
// there for excess bytes, while net/http closes the body once the response has
// begun; the transport would take that for a broken request and cut the response.
type bounded struct {
	io.Reader
	io.Closer
}

// ask are requests that any server answers without a session, in the newer and
// the older way.
var ask = []struct{ method, params string }{{"server/discover", discoverParams}, {"ping", ""}}

// check sends an MCP request; healthy is whoever answers it by a JSON-RPC
// message, an error too, or refuses it for want of a session.
func (r *remote) check(ctx context.Context) error {
	var last error
	for _, q := range ask {
		if last = r.request(ctx, q.method, q.params); last == nil {
			return nil
		}
		if ctx.Err() != nil {
			return fmt.Errorf("server %q: %w: %w", r.name, ErrHung, last)
		}
	}
	return fmt.Errorf("server %q: %w: %w", r.name, ErrDead, last)
}

func (r *remote) request(ctx context.Context, method, params string) error {
	body := `{"jsonrpc":"2.0","id":"bridge-health","method":"` + method + `"}`
	if params != "" {
		body = strings.TrimSuffix(body, "}") + `,"params":` + params + "}"
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, r.url.String(), strings.NewReader(body))
	if err != nil {
		return err
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "application/json, text/event-stream")
	if params != "" {
		req.Header.Set("Mcp-Protocol-Version", "2026-07-28")
		req.Header.Set("Mcp-Method", method)
	}
	resp, err := r.transport.RoundTrip(req)
	if err != nil {
		return err
	}
	defer func() { _ = resp.Body.Close() }()
	return isAnswer(resp)
}

// isAnswer looks for a JSON-RPC message in the first bytes of a response.
func isAnswer(resp *http.Response) error {
	head := make([]byte, 0, 512)
	for len(head) < cap(head) && !bytes.Contains(head, []byte(`"jsonrpc"`)) {
		n, err := resp.Body.Read(head[len(head):cap(head)])
		head = head[:len(head)+n]
		if err != nil {
			if !errors.Is(err, io.EOF) {
				return err
			}
			break
		}
	}
	switch {
	case bytes.Contains(head, []byte(`"jsonrpc"`)):
		return nil
	case resp.StatusCode == http.StatusBadRequest && bytes.Contains(bytes.ToLower(head), []byte("session")):
		return nil // plain text for want of a session is how some SDKs refuse
	}
	return fmt.Errorf("answered %s, which is no MCP", resp.Status)
}

// startRemote waits until the server answers.
func (s *server) startRemote(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, s.cfg.StartTimeout)
	defer cancel()
	r, err := newRemote(s.name, s.cfg.URL)
	if err != nil {
		return s.startError(nil, err)
	}
	for last := error(nil); ; last = err {
		if err = r.check(ctx); err == nil {
			break
		}
		if ctx.Err() != nil && last != nil {
			err = last // says more than that time is up
		}
		select {
		case <-ctx.Done():
			r.close()
			return s.startError(nil, err)
		case <-time.After(retryPause):
		}
	}
	s.remote = r
	s.handler = r.handler(s.allowHost, s.log)
	return nil
}

// retryPause is the pause between questions to a server that does not answer yet.
const retryPause = 100 * time.Millisecond
