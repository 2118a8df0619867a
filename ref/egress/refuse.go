package egress

import (
	"bytes"
	"net/http"
)

// refuse answers a request that was judged and reports it. The connection goes
// on only if nothing of the request is left to read, and never after CONNECT:
// what follows was meant for a tunnel and is no request.
func (c *conn) refuse(h *head, d Decision) bool {
	c.p.decided(d)
	status := 0
	if d.Reason.byPolicy() && h.form == absoluteForm {
		status = c.p.cfg.RefuseStatus
	}
	last := h.close || h.body || h.form == authorityForm
	if c.send(h.method, h.http10, last, c.p.answer(d, status)) && !last {
		return true
	}
	if h.body {
		linger(c.Conn, lingerUpload)
	} else {
		linger(c.Conn, lingerHead)
	}
	return false
}

// refuseBad answers what is no request, and ends the connection: where the next
// one would begin is not known.
func (c *conn) refuseBad(bad *badRequest, raw []byte) {
	d := Decision{Verdict: Deny, Reason: bad.reason, Detail: bad.detail}
	if line, _, _ := bytes.Cut(raw, []byte("\r\n")); len(line) > 0 {
		d.Asked = quoteTarget(string(line))
	}
	c.p.decided(d)
	c.send("", false, true, c.p.answer(d, bad.status))
	linger(c.Conn, lingerHead)
}

// send writes one of our own answers.
func (c *conn) send(method string, http10, last bool, a answer) bool {
	w := &response{
		conn: c.Conn, idle: c.p.cfg.Limits.HeadTimeout, fail: func() {},
		method: method, http10: http10, close: last, header: a.header, phrase: a.phrase,
	}
	w.WriteHeader(a.status)
	if method != http.MethodHead {
		_, _ = w.Write(a.body) // finish tells of an error
	}
	return w.finish()
}
