package egress

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptrace"
	"net/textproto"
	"net/url"
	"strconv"
	"strings"
	"time"
)

// newTransport speaks HTTP/1.1 to upstreams, over the proxy's own dial alone.
func (p *Proxy) newTransport() *http.Transport {
	http1 := new(http.Protocols)
	http1.SetHTTP1(true)
	return &http.Transport{
		DialContext: func(ctx context.Context, _, addr string) (net.Conn, error) {
			a, err := ParseAuthority(addr)
			if err != nil {
				return nil, fmt.Errorf("dial target: %w", err)
			}
			// Judged again: a transport may dial for one request and use the
			// connection for another, to the same authority.
			d := p.cfg.Policy.Decide(a)
			if d.Verdict != Allow {
				return nil, &dialError{d.Reason, d.message()}
			}
			ctx, cancel := context.WithCancel(ctx)
			defer cancel()
			defer context.AfterFunc(p.base, cancel)()
			return p.dial(ctx, d)
		},
		Protocols:              http1,
		DisableCompression:     true,
		MaxIdleConns:           max(1, min(64, p.cfg.Limits.Connections/4)),
		IdleConnTimeout:        30 * time.Second,
		ExpectContinueTimeout:  time.Second,
		MaxResponseHeaderBytes: int64(p.cfg.Limits.HeadBytes),
	}
}

// forward sends an allowed request in absolute form to its target.
func (c *conn) forward(h *head, raw []byte, d Decision) bool {
	x, err := c.begin(h, raw)
	if err != nil {
		c.refuseBad(malformed("%v", err), raw)
		return false
	}
	defer x.cancel()
	idle := newIdleTimer(c.p.cfg.Limits.IdleTimeout, x.cancel)
	defer idle.stop()
	res, err := c.p.transport.RoundTrip(x.outgoing(&d, idle))
	if err != nil {
		if idle.fired() {
			err = &dialError{ReasonIdle, d.Target() + " did not answer in time"}
		}
		if bad, ok := errors.AsType[*badRequest](err); ok {
			x.body.stop()
			x.stop()
			c.refuseBad(bad, raw)
			return false
		}
		return x.giveUp(d.failed(upstreamError(err)))
	}
	defer res.Body.Close()
	if res.StatusCode == http.StatusSwitchingProtocols {
		idle.stop() // the tunnel has its own
		return x.switchProtocols(res)
	}
	x.w.phrase = reasonPhrase(res)
	copyHeader(x.w.header, res.Header)
	x.w.header.Add("Via", "1.1 "+c.p.cfg.Name)
	x.w.WriteHeader(res.StatusCode)
	x.w.Flush()
	if err := x.stream(res, idle); err != nil {
		// The client must not take a cut body for a whole one.
		x.body.stop()
		x.stop()
		reset(c.Conn)
		return false
	}
	x.w.trailer = res.Trailer
	return x.end()
}

// outgoing is the request as the upstream gets it: the target's Host, the path
// as it came, no hop-by-hop fields.
func (x *exchange) outgoing(d *Decision, idle *idleTimer) *http.Request {
	trace := &httptrace.ClientTrace{
		// Reported now: the answer may be long in coming. A transport that tries
		// another connection comes here again.
		GotConn: func(i httptrace.GotConnInfo) {
			if !d.Dialled.IsValid() {
				d.Dialled = remote(i.Conn)
				x.c.p.decided(*d)
			}
		},
		Got1xxResponse: func(code int, header textproto.MIMEHeader) error {
			if code != http.StatusContinue { // ours is sent when the body is read
				x.w.mu.Lock()
				defer x.w.mu.Unlock()
				x.w.interim(code, http.Header(header))
			}
			return nil
		},
	}
	out := x.req.WithContext(httptrace.WithClientTrace(x.req.Context(), trace))
	out.RequestURI = ""
	out.URL = upstreamURL(x.h)
	out.Header = http.Header{}
	copyHeader(out.Header, x.req.Header)
	if _, ok := out.Header["User-Agent"]; !ok {
		out.Header["User-Agent"] = []string{""} // else net/http names itself
	}
	out.Header.Add("Via", "1.1 "+x.c.p.cfg.Name)
	if n, err := strconv.Atoi(out.Header.Get("Max-Forwards")); err == nil && n > 0 && (out.Method == http.MethodOptions || out.Method == http.MethodTrace) {
		out.Header.Set("Max-Forwards", strconv.Itoa(n-1)) // RFC 9110 section 7.6.2
	}
	if x.h.expect {
		out.Header.Set("Expect", "100-continue")
	}
	if x.h.upgrade {
		out.Header.Set("Connection", "Upgrade")
		out.Header.Set("Upgrade", "websocket")
	}
	out.Trailer = nil
	if out.Body != http.NoBody {
		out.Body = idle.body(out.Body)
	}
	return out
}

// upstreamURL keeps path and query byte for byte (RFC 9110 section 7.7). net/url
// would write some characters in another way; an opaque path is not touched, but
// may not begin with two slashes: in such a path those characters are refused.
func upstreamURL(h *head) *url.URL {
	path, query, found := strings.Cut(h.path, "?")
	u := &url.URL{Scheme: "http", Host: h.authority.String(), RawQuery: query, ForceQuery: found}
	if strings.HasPrefix(path, "//") {
		u.Path, _ = url.PathUnescape(path)
		u.RawPath = path
	} else {
		u.Opaque = path
	}
	return u
}

// giveUp answers for an upstream that did not.
func (x *exchange) giveUp(d Decision) bool {
	status := 0
	if d.Reason.byPolicy() {
		status = x.c.p.cfg.RefuseStatus
	}
	a := x.c.p.answer(d, status)
	x.c.p.decided(d)
	x.w.header, x.w.phrase = a.header, a.phrase
	x.w.close = x.w.close || x.h.body
	x.w.WriteHeader(a.status)
	_, _ = x.w.Write(a.body) // finish tells of an error
	return x.end()
}

// stream passes a body on as it comes, nothing held back.
func (x *exchange) stream(res *http.Response, idle *idleTimer) error {
	buf := buffers.Get().(*[]byte)
	defer buffers.Put(buf)
	for {
		n, err := res.Body.Read(*buf)
		idle.touch()
		if n > 0 && x.w.hasBody() {
			if _, err := x.w.Write((*buf)[:n]); err != nil {
				return err
			}
			if err := x.w.FlushError(); err != nil {
				return err
			}
		}
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

// switchProtocols tunnels after 101 (RFC 9110 section 7.8).
func (x *exchange) switchProtocols(res *http.Response) bool {
	x.body.stop()
	x.stop()
	upstream, ok := res.Body.(io.ReadWriteCloser)
	if !ok || !x.h.upgrade {
		reset(x.c.Conn)
		return false
	}
	copyHeader(x.w.header, res.Header)
	x.w.header.Set("Connection", "Upgrade")
	x.w.header.Set("Upgrade", res.Header.Get("Upgrade"))
	x.w.WriteHeader(res.StatusCode)
	if x.w.FlushError() != nil {
		return false
	}
	rest, _ := x.c.br.Peek(x.c.br.Buffered())
	x.c.src.unread(rest)
	x.c.SetDeadline(time.Time{})
	tunnel(x.c.Conn, upstream, func() error { x.c.early(upstream); return nil }, x.c.p.cfg.Limits.IdleTimeout)
	return false
}

// upstreamError names what a transport met.
func upstreamError(err error) error {
	var cause *dialError
	var op *net.OpError
	switch {
	case errors.As(err, &cause):
		return cause
	case errors.Is(err, context.Canceled):
		return &dialError{ReasonClientGone, "the client left before the answer"}
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF), errors.As(err, &op):
		return &dialError{ReasonTerminated, "the upstream ended the connection before its answer"}
	}
	return &dialError{ReasonProtocolError, "the upstream's answer cannot be read: " + err.Error()}
}

func reasonPhrase(res *http.Response) string {
	_, text, _ := strings.Cut(res.Status, " ")
	return printable(text)
}
