package upstream

import (
	"bufio"
	"crypto/sha256"
	"crypto/tls"
	"encoding/hex"
	"fmt"
	"io"
	"log"
	"net/http"
	"strconv"
	"strings"
	"time"

	"bridgecheck/fakes/content"
)

// Request is one HTTP request as it arrived.
type Request struct {
	Method string
	// Target is the request target as it stood on the wire (RFC 9112 3.2).
	Target string
	Host   string
	Proto  string
	Header http.Header
	// BodyBytes and BodySHA256 are of the whole body.
	BodyBytes  int64
	BodySHA256 string
	// Nonce is the query parameter nonce.
	Nonce  string
	Remote string
	// SNI is the server name of the ClientHello, with TLS.
	SNI  string
	Time time.Time
}

// Requests are all requests in the order in which they were complete.
func (s *Server) Requests() []Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]Request(nil), s.requests...)
}

// serveHTTP serves the counted listener, behind TLS when that is the kind.
func (s *Server) serveHTTP(socket *listener) error {
	hs := &http.Server{
		Handler:           http.HandlerFunc(s.answer),
		ReadHeaderTimeout: time.Minute,
		ErrorLog:          log.New(io.Discard, "", 0),
	}
	s.atClose(func() { _ = hs.Close() })
	if s.kind == TLS {
		secure := tls.NewListener(socket, &tls.Config{GetCertificate: certificateFor, MinVersion: tls.VersionTLS12})
		s.done.Go(func() { _ = hs.Serve(secure) })
		return nil
	}
	s.done.Go(func() { _ = hs.Serve(socket) })
	return nil
}

// answer records the request and answers by its path:
//
//	/status/N             that status
//	/bytes?size=S&seed=K  S bytes of content.Reader
//	/upgrade              101, then an echo
//	/events?count=N       a server-sent event every 100 ms
//	anything else         200 "METHOD TARGET\n"
func (s *Server) answer(w http.ResponseWriter, r *http.Request) {
	body := sha256.New()
	length, _ := io.Copy(body, r.Body)
	record := Request{
		Method: r.Method, Target: r.RequestURI, Host: r.Host, Proto: r.Proto, Header: r.Header.Clone(),
		BodyBytes: length, BodySHA256: hex.EncodeToString(body.Sum(nil)),
		Nonce: r.URL.Query().Get("nonce"), Remote: r.RemoteAddr, Time: time.Now(),
	}
	if r.TLS != nil {
		record.SNI = r.TLS.ServerName
	}
	s.mu.Lock()
	s.requests = append(s.requests, record)
	s.mu.Unlock()
	w.Header().Set("X-Upstream", s.addr.String())
	switch {
	case strings.HasPrefix(r.URL.Path, "/status/"):
		status, err := strconv.Atoi(strings.TrimPrefix(r.URL.Path, "/status/"))
		if err != nil || status < 200 || status > 599 {
			status = http.StatusBadRequest
		}
		w.WriteHeader(status)
	case r.URL.Path == "/bytes":
		size, _ := strconv.ParseInt(r.URL.Query().Get("size"), 10, 64)
		seed, _ := strconv.ParseUint(r.URL.Query().Get("seed"), 10, 64)
		w.Header().Set("Content-Length", strconv.FormatInt(max(size, 0), 10))
		_, _ = io.Copy(w, content.Reader(seed, size))
	case r.URL.Path == "/upgrade":
		s.upgrade(w, r)
	case r.URL.Path == "/events":
		s.events(w, r)
	default:
		_, _ = fmt.Fprintf(w, "%s %s\n", r.Method, r.RequestURI)
	}
}

// upgrade switches to whatever protocol was asked for and echoes.
func (s *Server) upgrade(w http.ResponseWriter, r *http.Request) {
	c, buffered, err := http.NewResponseController(w).Hijack()
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	defer func() { _ = c.Close() }()
	_, _ = fmt.Fprintf(c, "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: %s\r\n\r\n", r.Header.Get("Upgrade"))
	_, _ = io.Copy(c, bufio.NewReader(buffered))
}

// events sends count server-sent events, each as soon as it is due.
func (s *Server) events(w http.ResponseWriter, r *http.Request) {
	count, err := strconv.Atoi(r.URL.Query().Get("count"))
	if err != nil {
		count = 3
	}
	w.Header().Set("Content-Type", "text/event-stream")
	control := http.NewResponseController(w)
	for i := range count {
		_, _ = fmt.Fprintf(w, "data: %d\n\n", i)
		_ = control.Flush()
		select {
		case <-time.After(tickInterval):
		case <-r.Context().Done():
			return
		case <-s.ctx.Done():
			return
		}
	}
}
