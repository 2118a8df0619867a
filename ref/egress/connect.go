package egress

import (
	"context"
	"errors"
	"io"
	"net"
	"time"
)

// established is the answer to CONNECT; it has no framing fields (RFC 9110
// section 9.3.6) and is alone on the wire, so that what follows is the tunnel.
const established = "HTTP/1.1 200 Connection established\r\n\r\n"

// connect serves a CONNECT request to its end.
func (c *conn) connect(h *head) {
	if c.p.isSelf(h.authority) {
		c.p.decided(Decision{Authority: h.authority, Verdict: Allow})
		if c.establish() {
			c.serve(&virtual{authority: h.authority})
		}
		return
	}
	d, server := c.p.judge(h.authority)
	if d.Verdict != Allow {
		c.refuse(h, d)
		return
	}
	if server.Handler != nil {
		c.p.decided(d)
		if c.establish() {
			c.serve(&virtual{h.authority, server})
		}
		return
	}
	upstream, err := c.dial(d)
	if err != nil {
		c.refuse(h, d.failed(err))
		return
	}
	defer upstream.Close()
	d.Dialled = remote(upstream)
	c.p.decided(d)
	if !c.establish() {
		return
	}
	first := func() error { c.early(upstream); return nil }
	if c.p.cfg.SNICheck {
		first = func() error { return c.checkedHello(upstream, d) }
	}
	tunnel(c.Conn, upstream, first, c.p.cfg.Limits.IdleTimeout)
}

// dial gives up when the client does.
func (c *conn) dial(d Decision) (net.Conn, error) {
	ctx, cancel := context.WithCancel(c.p.base)
	defer cancel()
	defer watchHangup(c.Conn, cancel)()
	return c.p.dial(ctx, d)
}

func (c *conn) establish() bool {
	c.SetWriteDeadline(time.Now().Add(c.p.cfg.Limits.HeadTimeout))
	_, err := io.WriteString(c.Conn, established)
	c.SetDeadline(time.Time{})
	return err == nil
}

// early forwards what came in one piece with the head. An upstream that takes
// no bytes fails the next write too, and may have said something before.
func (c *conn) early(upstream io.Writer) {
	if first := c.src.pending; len(first) > 0 {
		c.src.pending = nil
		_, _ = upstream.Write(first)
	}
}

// failed is what becomes of an allowed target that could not be connected. An
// address that must not be dialled is a refusal, the rest is the network.
func (d Decision) failed(err error) Decision {
	d.Verdict, d.Reason, d.Detail = Failed, ReasonTerminated, err.Error()
	if cause, ok := errors.AsType[*dialError](err); ok {
		d.Reason, d.Detail = cause.reason, cause.detail
	}
	if d.Reason == ReasonProhibited {
		d.Verdict = Deny
	}
	return d
}
