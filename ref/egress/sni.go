package egress

import (
	"bytes"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"time"
)

// unrecognizedName is the fatal TLS alert of RFC 6066 section 3.
var unrecognizedName = []byte{21, 3, 3, 0, 2, 2, 112}

// checkedHello forwards the first bytes of a client once they are known not to
// be a ClientHello for another name than the CONNECT host. What is not TLS
// passes; an encrypted ClientHello is judged by its outer name. A server that
// holds several names can still serve one by another's: the Host inside TLS is
// not seen.
func (c *conn) checkedHello(upstream io.Writer, d Decision) error {
	hello, name, isTLS, err := readHello(&c.src, c.p.cfg.Limits.HeadTimeout)
	if isTLS && err == nil {
		err = matchName(name, d.Authority)
	}
	if isTLS && err != nil {
		d.Verdict, d.Reason, d.Detail = Deny, ReasonSNIMismatch, err.Error()
		c.p.decided(d)
		_, _ = c.Write(unrecognizedName)
		_ = closeWrite(c.Conn)
		return err
	}
	if len(hello) > 0 {
		_, _ = upstream.Write(hello) // as early
	}
	c.early(upstream)
	return err
}

func matchName(name string, a Authority) error {
	if a.Addr.IsValid() {
		if name != "" {
			return fmt.Errorf("TLS names %s on a tunnel to %s", quote(name), a)
		}
		return nil
	}
	if got := strings.ToLower(strings.TrimSuffix(name, ".")); got != a.Name {
		return fmt.Errorf("TLS names %s on a tunnel to %s", quote(name), a)
	}
	return nil
}

// readHello reads until the end of a ClientHello, or one byte that begins none.
// A client that lets the server speak first may take its time; one that has
// begun a hello may not.
func readHello(src *source, timeout time.Duration) (read []byte, name string, isTLS bool, err error) {
	first := make([]byte, 1)
	n, err := src.Read(first)
	if n == 0 || first[0] != 0x16 { // handshake record, RFC 8446 section 5.1
		if err == io.EOF {
			err = nil // the end is passed on by the copy that follows
		}
		return first[:n], "", false, err
	}
	src.unread(first)
	src.conn.SetReadDeadline(time.Now().Add(timeout))
	defer src.conn.SetReadDeadline(time.Time{})
	rec := &recorder{Conn: src.conn, from: src}
	seen := errors.New("hello read")
	err = tls.Server(rec, &tls.Config{GetConfigForClient: func(h *tls.ClientHelloInfo) (*tls.Config, error) {
		name = h.ServerName
		return nil, seen
	}}).Handshake()
	if !errors.Is(err, seen) {
		return nil, "", true, fmt.Errorf("read ClientHello: %w", err)
	}
	return rec.read.Bytes(), name, true, nil
}

// recorder gives crypto/tls the bytes to parse, keeps them, and lets it answer
// nothing.
type recorder struct {
	net.Conn
	from *source
	read bytes.Buffer
}

func (r *recorder) Read(p []byte) (int, error) {
	n, err := r.from.Read(p)
	r.read.Write(p[:n])
	return n, err
}

func (r *recorder) Write(p []byte) (int, error) { return len(p), nil }
