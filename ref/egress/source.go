package egress

import (
	"bytes"
	"errors"
	"io"
	"net"
	"net/http"
	"os"
	"time"
)

// source reads from a connection and can be given bytes back.
type source struct {
	conn    net.Conn
	pending []byte
}

// Read returns what was given back first.
func (s *source) Read(p []byte) (int, error) {
	if len(s.pending) > 0 {
		n := copy(p, s.pending)
		if s.pending = s.pending[n:]; len(s.pending) == 0 {
			s.pending = nil
		}
		return n, nil
	}
	return s.conn.Read(p)
}

// unread puts b in front of everything that is still to come.
func (s *source) unread(b []byte) {
	if len(b) > 0 {
		s.pending = append(bytes.Clone(b), s.pending...)
	}
}

// errIdle means that a connection ended, or stayed silent, before a head began.
var errIdle = errors.New("no request")

// readHead reads one head, no byte more; with an error, what there was of it. first is given for the first head of
// a connection: its deadline counts from now, later ones from their first byte,
// for which the connection may stay idle. The deadline is one for the whole
// head, so that dripping gains nothing.
func (s *source) readHead(l *Limits, first bool) ([]byte, error) {
	defer s.conn.SetReadDeadline(time.Time{})
	wait := l.IdleTimeout
	if first {
		wait = l.HeadTimeout
	}
	s.conn.SetReadDeadline(time.Now().Add(wait))
	scan := scanner{bytes: l.HeadBytes, fields: l.HeadFields}
	buf := make([]byte, 0, 1024)
	for started := false; ; {
		if len(buf) == cap(buf) {
			buf = append(buf, 0)[:len(buf)]
		}
		n, err := s.Read(buf[len(buf):cap(buf)])
		buf = buf[:len(buf)+n]
		if n > 0 && !started {
			started = true
			if !first {
				s.conn.SetReadDeadline(time.Now().Add(l.HeadTimeout))
			}
		}
		end, bad := scan.next(buf)
		if bad != nil {
			return buf, bad
		}
		if end > 0 {
			s.unread(buf[end:])
			return buf[scan.skipped:end], nil
		}
		if err != nil {
			return buf, headError(err, first, len(buf) > 0)
		}
	}
}

func headError(err error, first, started bool) error {
	switch {
	case errors.Is(err, os.ErrDeadlineExceeded) && (first || started):
		return &badRequest{http.StatusRequestTimeout, ReasonHeadTimeout, "the request head was not complete in time"}
	case errors.Is(err, io.EOF) && started:
		return malformed("the request head ended before its empty line")
	}
	return errIdle
}

// scanner looks for the end of a head as it comes in, and stops at the first
// byte that no head can have: waiting for more would only spend the deadline.
type scanner struct {
	bytes, fields int
	seen, lines   int
	lineStart     int
	skipped       int // a leading CRLF
}

// next goes over the bytes of buf it has not seen and returns the length of the
// head, 0 for not complete.
func (s *scanner) next(buf []byte) (int, *badRequest) {
	for ; s.seen < len(buf); s.seen++ {
		i, b := s.seen, buf[s.seen]
		if i == s.skipped && !startsHead(b) && !(i == 0 && b == '\r') {
			return 0, notHTTP(b)
		}
		if i >= s.bytes {
			return 0, s.tooLarge()
		}
		afterCR := i > 0 && buf[i-1] == '\r'
		switch {
		case b == '\n' && !afterCR:
			return 0, malformed("LF without CR: lines end in CRLF")
		case afterCR && b != '\n':
			return 0, malformed("CR without LF: lines end in CRLF")
		case b < ' ' && b != '\r' && b != '\n' && b != '\t', b == 0x7f:
			return 0, malformed("control character 0x%02x in the head", b)
		case b != '\n':
			continue
		}
		empty := i-s.lineStart == 1
		s.lineStart = i + 1
		if empty && i == 1 {
			s.skipped = 2 // RFC 9112 section 2.2: ignore one CRLF before a request
			continue
		}
		if empty {
			s.seen++
			return s.seen, nil
		}
		if s.lines++; s.lines > s.fields+1 {
			return 0, &badRequest{http.StatusRequestHeaderFieldsTooLarge, ReasonHeadTooLarge, "too many header fields"}
		}
	}
	return 0, nil
}

func (s *scanner) tooLarge() *badRequest {
	status := http.StatusRequestHeaderFieldsTooLarge
	if s.lines == 0 {
		status = http.StatusRequestURITooLong // RFC 9112 section 3
	}
	return &badRequest{status, ReasonHeadTooLarge, "the request head is too large"}
}

func startsHead(b byte) bool { return isToken(string(rune(b))) && b < 0x80 }

// notHTTP names what clients of other protocols begin with.
func notHTTP(b byte) *badRequest {
	switch b {
	case 0x16:
		return malformed("a TLS ClientHello: this is a plain HTTP proxy, write its URL as http://")
	case 0x04, 0x05:
		return malformed("a SOCKS greeting: this is an HTTP proxy, write its URL as http://")
	}
	return malformed("byte 0x%02x does not begin an HTTP request", b)
}
