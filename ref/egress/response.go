package egress

import (
	"bytes"
	"fmt"
	"net"
	"net/http"
	"slices"
	"strconv"
	"sync"
	"time"
)

// response writes one HTTP/1.1 response. It is an http.ResponseWriter and an
// http.Flusher; what is flushed is on the wire. A body that was never flushed
// and fits into the buffer gets a Content-Length, any other is chunked.
type response struct {
	conn   net.Conn
	idle   time.Duration // for a write that makes no progress
	fail   func()        // called at the first failed write
	method string
	http10 bool
	close  bool
	awaits bool // the client holds its body back for a 100

	mu      sync.Mutex // a 100 may be written while the handler runs
	header  http.Header
	trailer http.Header
	phrase  string // "" means the status's own
	status  int
	sent    bool // the head is on the wire
	chunked bool
	length  int64 // declared, -1 for none
	written int64
	buf     bytes.Buffer
	err     error
}

// bufferSize is how much of a body is held back when nobody flushes.
const bufferSize = 4 << 10

func (w *response) Header() http.Header { return w.header }

// WriteHeader keeps the final status; an interim one (RFC 9110 section 15.2)
// is sent at once with the header as it is.
func (w *response) WriteHeader(status int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if status >= 100 && status < 200 && status != http.StatusSwitchingProtocols {
		w.interim(status, w.header)
		return
	}
	if w.status == 0 {
		w.status = status
	}
}

func (w *response) interim(status int, h http.Header) {
	if w.http10 || w.sent || w.status != 0 {
		return
	}
	w.awaits = w.awaits && status != http.StatusContinue
	var b bytes.Buffer
	fmt.Fprintf(&b, "HTTP/1.1 %d %s\r\n", status, http.StatusText(status))
	_ = h.Write(&b)
	b.WriteString("\r\n")
	w.out(b.Bytes())
}

// proceed answers Expect: 100-continue when the body is asked for.
func (w *response) proceed() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.interim(http.StatusContinue, nil)
}

func (w *response) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.status == 0 {
		w.status = http.StatusOK
	}
	if !w.hasBody() {
		if w.method == http.MethodHead {
			return len(p), nil
		}
		return 0, http.ErrBodyNotAllowed
	}
	if !w.sent && w.buf.Len()+len(p) <= bufferSize {
		w.buf.Write(p)
		return len(p), nil
	}
	w.flush(false)
	w.body(p)
	return len(p), w.err
}

// Flush puts everything written so far on the wire.
func (w *response) Flush() { _ = w.FlushError() }

// FlushError is Flush for [http.ResponseController].
func (w *response) FlushError() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.status == 0 {
		w.status = http.StatusOK
	}
	w.flush(false)
	return w.err
}

// EnableFullDuplex is for [http.ResponseController]: it always is.
func (w *response) EnableFullDuplex() error { return nil }

// finish ends the response; it reports whether the connection can go on.
func (w *response) finish() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.status == 0 {
		w.status = http.StatusOK
	}
	w.flush(true)
	if w.chunked {
		var b bytes.Buffer
		b.WriteString("0\r\n")
		_ = w.trailer.Write(&b)
		b.WriteString("\r\n")
		w.out(b.Bytes())
	}
	short := w.length >= 0 && w.written != w.length && w.hasBody()
	return w.err == nil && !w.close && !short
}

func (w *response) hasBody() bool {
	return w.method != http.MethodHead && w.status >= 200 && w.status != http.StatusNoContent && w.status != http.StatusNotModified
}

// flush sends the head, if that is still to do, and the held back body.
func (w *response) flush(last bool) {
	if !w.sent {
		w.sendHead(last)
	}
	w.body(w.buf.Bytes())
	w.buf.Reset()
}

func (w *response) sendHead(last bool) {
	w.sent, w.length = true, -1
	h := w.header
	declared := h.Get("Content-Length")
	h.Del("Transfer-Encoding")
	switch n, err := strconv.ParseInt(declared, 10, 64); {
	case w.status == http.StatusSwitchingProtocols:
	case declared != "" && err == nil && n >= 0:
		w.length = n
	case !w.hasBody():
		h.Del("Content-Length")
	case last:
		w.length = int64(w.buf.Len())
		h.Set("Content-Length", strconv.FormatInt(w.length, 10))
	case w.http10:
		h.Del("Content-Length")
		w.close = true
	default:
		h.Del("Content-Length")
		h.Set("Transfer-Encoding", "chunked")
		w.chunked = true
	}
	if h.Get("Date") == "" && w.status != http.StatusSwitchingProtocols {
		h.Set("Date", time.Now().UTC().Format(http.TimeFormat))
	}
	// Who was not told to go on may or may not send the body.
	w.close = w.close || w.awaits || slices.Contains(tokens(h.Get("Connection")), "close")
	if w.close && w.status != http.StatusSwitchingProtocols {
		h.Set("Connection", "close")
	}
	text := w.phrase
	if text == "" {
		text = http.StatusText(w.status)
	}
	var b bytes.Buffer
	fmt.Fprintf(&b, "HTTP/1.1 %03d %s\r\n", w.status, text)
	_ = h.Write(&b)
	b.WriteString("\r\n")
	w.out(b.Bytes())
}

// body sends body bytes in the framing that the head declared.
func (w *response) body(p []byte) {
	if len(p) == 0 {
		return
	}
	if w.length >= 0 && w.written+int64(len(p)) > w.length {
		w.broken(http.ErrContentLength)
		return
	}
	w.written += int64(len(p))
	if !w.chunked {
		w.out(p)
		return
	}
	size := strconv.AppendInt(nil, int64(len(p)), 16)
	w.out(append(size, "\r\n"...), p, []byte("\r\n"))
}

func (w *response) out(parts ...[]byte) {
	if w.err != nil {
		return
	}
	w.conn.SetWriteDeadline(time.Now().Add(w.idle))
	list := net.Buffers(parts)
	if _, err := list.WriteTo(w.conn); err != nil {
		w.broken(err)
	}
}

func (w *response) broken(err error) {
	if w.err == nil {
		w.err = err
		w.fail()
	}
}
