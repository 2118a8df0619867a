package egress

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/url"
	"runtime/debug"
	"time"
)

// conn is one client connection. Its requests are served one after another.
type conn struct {
	net.Conn
	p   *Proxy
	src source
	br  *bufio.Reader // made by the first request that is no tunnel, then reused
}

// virtual is a server reached inside a tunnel; without a handler it is the
// proxy itself, which has routes.
type virtual struct {
	authority Authority
	VirtualServer
}

// serve answers request after request, each judged on its own, until one ends
// the connection. in is nil outside a tunnel.
func (c *conn) serve(in *virtual) {
	// A tunnel was asked for: it may wait for its first request, as any
	// kept-alive connection.
	for first := in == nil; c.p.setWaiting(c.Conn, true); first = false {
		raw, err := c.src.readHead(&c.p.cfg.Limits, first)
		c.p.setWaiting(c.Conn, false)
		var h *head
		if err == nil {
			var bad *badRequest
			if h, bad = parseHead(raw); bad != nil {
				err = bad
			}
		}
		var bad *badRequest
		switch {
		case errors.As(err, &bad):
			c.refuseBad(bad, raw)
			return
		case err != nil:
			return
		}
		if !c.handle(h, raw, in) {
			return
		}
	}
}

// handle serves one request and reports whether another may follow.
func (c *conn) handle(h *head, raw []byte, in *virtual) bool {
	switch {
	case in != nil:
		if h.form == authorityForm || h.form == absoluteForm && h.authority != in.authority {
			c.refuseBad(malformed("this tunnel leads to %s alone", in.authority), raw)
			return false
		}
		if in.Handler == nil {
			return c.route(h, raw)
		}
		return c.serveHandler(h, raw, in.VirtualServer, nil) // in origin form with Host as it came: the server judges it
	case h.form == authorityForm:
		c.connect(h)
		return false
	case h.form == originForm, c.p.isSelf(h.authority):
		return c.route(h, raw)
	}
	d, server := c.p.judge(h.authority)
	switch {
	case d.Verdict != Allow:
		return c.refuse(h, d)
	case server.Handler != nil:
		return c.serveHandler(h, raw, server, &d)
	}
	return c.forward(h, raw, d)
}

// serveHandler hands a request to the adapter of a server. d is to be reported
// once the request is known to be whole; nil inside a tunnel, whose opening was.
func (c *conn) serveHandler(h *head, raw []byte, server VirtualServer, d *Decision) bool {
	x, err := c.begin(h, raw)
	if err != nil {
		c.refuseBad(malformed("%v", err), raw)
		return false
	}
	defer x.cancel()
	if d != nil {
		c.p.decided(*d)
	}
	if !x.call(server) {
		reset(c.Conn)
		return false
	}
	return x.end()
}

// exchange is one request with its response.
type exchange struct {
	c      *conn
	h      *head
	req    *http.Request
	body   *requestBody
	w      *response
	cancel context.CancelFunc
	stop   func() // ends the watch for a hangup
}

// begin parses a checked head once more by net/http, which reads the body too,
// and makes the target's authority the request's.
func (c *conn) begin(h *head, raw []byte) (*exchange, error) {
	from := io.MultiReader(bytes.NewReader(raw), &c.src)
	if c.br == nil {
		c.br = bufio.NewReader(from)
	} else {
		c.br.Reset(from)
	}
	req, err := http.ReadRequest(c.br)
	if err != nil {
		return nil, err
	}
	u, err := url.ParseRequestURI(h.path)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancel(c.p.base)
	x := &exchange{c: c, h: h, cancel: cancel, stop: func() {}}
	x.w = &response{
		conn: c.Conn, idle: c.p.cfg.Limits.IdleTimeout, fail: cancel,
		method: h.method, http10: h.http10, close: h.close, header: http.Header{},
	}
	x.body = &requestBody{Reader: req.Body, conn: c.Conn, idle: c.p.cfg.Limits.IdleTimeout}
	x.body.atEnd = func() { x.stop = watchHangup(c.Conn, cancel) }
	if h.expect {
		x.w.awaits, x.body.proceed = true, x.w.proceed
	}
	if h.body {
		req.Body = x.body
	} else {
		req.Body = http.NoBody
		x.body.ended = true
		x.body.atEnd()
	}
	req.URL, req.RequestURI, req.RemoteAddr = u, h.path, c.RemoteAddr().String()
	if h.authority != (Authority{}) {
		req.Host = hostField(h.authority)
	}
	x.req = req.WithContext(ctx)
	return x, nil
}

// hostField is the Host of a target: without the port if it is http's own.
func hostField(a Authority) string {
	if a.Port != 80 {
		return a.String()
	}
	if a.Addr.Is6() {
		return "[" + a.Addr.String() + "]"
	}
	return a.Host()
}

// call runs the handler; it reports false if that gave up on the response.
func (x *exchange) call(server VirtualServer) (done bool) {
	defer func() {
		if r := recover(); r != nil {
			if r != http.ErrAbortHandler {
				x.c.p.cfg.Log.Error("handler panic", "server", server.Name, "panic", r, "stack", string(debug.Stack()))
			}
			x.w.fail()
			x.body.stop()
			x.stop()
		}
	}()
	server.Handler.ServeHTTP(x.w, x.req)
	return true
}

// maxDrain is how much of a body that nobody wanted is read to keep a
// connection.
const maxDrain = 256 << 10

// end finishes the response and readies the connection for the next request;
// it reports whether there can be one.
func (x *exchange) end() bool {
	keep := x.w.finish()
	ended := x.body.stop()
	x.stop()
	x.cancel()
	if !ended && keep {
		x.c.SetReadDeadline(time.Now().Add(time.Second))
		n, err := io.CopyN(io.Discard, x.body.Reader, maxDrain)
		ended = err == io.EOF && n < maxDrain
	}
	x.c.SetReadDeadline(time.Time{})
	if !keep || !ended {
		linger(x.c.Conn, lingerUpload)
		return false
	}
	rest, _ := x.c.br.Peek(x.c.br.Buffered())
	x.c.src.unread(rest)
	return true
}
