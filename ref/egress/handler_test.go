package egress

import (
	"bytes"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"
)

// serverLab has one server, jira:80, on a Unix socket as well.
func serverLab(t *testing.T, h http.HandlerFunc) (l *lab, unix string) {
	l = newLab(t, Config{
		Virtual:  map[Authority]VirtualServer{mustAuthority(t, "jira:80"): {"jira", h}},
		Loopback: map[uint16]VirtualServer{8085: {"jira", h}},
	})
	return l, l.serve("unix", t.TempDir()+"/proxy")
}

// Each way in, to the point where a request to the server can be written.
func ways(t *testing.T, l *lab, unix string) map[string]func() (*client, string) {
	return map[string]func() (*client, string){
		"absolute, TCP":  func() (*client, string) { return l.dial(), "http://jira/" },
		"absolute, Unix": func() (*client, string) { return dialClient(t, "unix", unix), "http://jira/" },
		"tunnel, TCP":    func() (*client, string) { c := l.dial(); c.connect("jira:80"); return c, "/" },
		"tunnel, Unix":   func() (*client, string) { c := dialClient(t, "unix", unix); c.connect("jira:80"); return c, "/" },
	}
}

// A stream reaches the client piece by piece, each waiting for the other.
func TestHandlerStreams(t *testing.T) {
	got := make(chan string)
	next := make(chan string)
	l, unix := serverLab(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		w.(http.Flusher).Flush()
		for s := range next {
			io.WriteString(w, s)
			if err := http.NewResponseController(w).Flush(); err != nil {
				t.Error(err)
			}
			if s == "end" {
				return
			}
		}
	})
	for name, enter := range ways(t, l, unix) {
		c, path := enter()
		c.send("GET " + path + " HTTP/1.1\r\nHost: jira\r\n\r\n")
		res, err := http.ReadResponse(c.r, nil) // before the first byte of the body
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		go func() {
			b := make([]byte, 3)
			for range 3 {
				io.ReadFull(res.Body, b)
				got <- string(b)
			}
		}()
		for _, s := range []string{"one", "two", "end"} {
			next <- s
			if g := <-got; g != s {
				t.Errorf("%s: %q, want %q", name, g, s)
			}
		}
	}
}

// A client that ends its sending is still served; one that is gone is noticed.
func TestHalfCloseAndHangup(t *testing.T) {
	ended := make(chan error, 1)
	goOn := make(chan struct{})
	l, unix := serverLab(t, func(w http.ResponseWriter, r *http.Request) {
		w.(http.Flusher).Flush()
		select {
		case <-r.Context().Done():
			ended <- r.Context().Err()
		case <-goOn:
			io.WriteString(w, "late answer")
			ended <- nil
		}
	})
	for name, enter := range ways(t, l, unix) {
		c, path := enter()
		c.send("GET " + path + " HTTP/1.1\r\nHost: jira\r\n\r\n")
		c.Conn.(interface{ CloseWrite() error }).CloseWrite()
		select {
		case err := <-ended:
			t.Errorf("%s: a half-close ended the request: %v", name, err)
			continue
		case <-time.After(50 * time.Millisecond): // nothing to wait for: it must not come
		}
		goOn <- struct{}{}
		if _, body := c.response("GET"); body != "late answer" {
			t.Errorf("%s: after a half-close: %q", name, body)
		}
		<-ended
		c.ended()

		c, path = enter()
		c.send("GET " + path + " HTTP/1.1\r\nHost: jira\r\n\r\n")
		http.ReadResponse(c.r, nil)
		if tcp, ok := c.Conn.(*net.TCPConn); ok {
			tcp.SetLinger(0) // a plain close is seen by the next write
		}
		c.Close()
		select {
		case err := <-ended:
			if err == nil {
				t.Errorf("%s: ended without cause", name)
			}
		case <-time.After(patience):
			t.Fatalf("%s: a client that is gone is not noticed", name)
		}
	}
}

// On a Unix socket a full close after a half-close is seen too, and on TCP a
// plain close is seen by a stream that writes.
func TestHangupIsSeenLate(t *testing.T) {
	ended := make(chan struct{})
	l, unix := serverLab(t, func(w http.ResponseWriter, r *http.Request) {
		w.(http.Flusher).Flush()
		ticks := r.URL.Query().Has("ticks")
		for {
			select {
			case <-r.Context().Done():
				ended <- struct{}{}
				return
			case <-time.After(5 * time.Millisecond):
				if ticks {
					io.WriteString(w, ": ping\n\n")
					w.(http.Flusher).Flush()
				}
			}
		}
	})
	c := dialClient(t, "unix", unix)
	c.send("GET http://jira/ HTTP/1.1\r\nHost: jira\r\n\r\n")
	http.ReadResponse(c.r, nil)
	c.Conn.(*net.UnixConn).CloseWrite()
	c.Close()
	<-ended
	c = l.dial()
	c.send("GET http://jira/?ticks HTTP/1.1\r\nHost: jira\r\n\r\n")
	http.ReadResponse(c.r, nil)
	c.Close()
	<-ended
}

func TestResponses(t *testing.T) {
	big := strings.Repeat("b", 100_000)
	l, unix := serverLab(t, func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/empty":
		case "/small":
			io.WriteString(w, "small")
		case "/big":
			io.WriteString(w, big)
		case "/declared":
			w.Header().Set("Content-Length", "100000")
			io.WriteString(w, big)
		case "/none":
			w.WriteHeader(http.StatusNoContent)
		case "/accepted":
			w.WriteHeader(http.StatusAccepted)
		case "/echo":
			io.Copy(w, r.Body)
		case "/ignore":
			io.WriteString(w, "ignored")
		case "/hints":
			w.Header().Set("Link", "x")
			w.WriteHeader(http.StatusEarlyHints)
			io.WriteString(w, "after")
		case "/close":
			w.Header().Set("Connection", "close")
		}
	})
	rows := []struct {
		method, path, fields, sends string
		status                      int
		body                        string
		length                      int64
		closes                      bool
	}{
		{"GET", "empty", "", "", 200, "", 0, false},
		{"GET", "small", "", "", 200, "small", 5, false},
		{"HEAD", "small", "", "", 200, "", -1, false},
		{"GET", "big", "", "", 200, big, -1, false},
		{"GET", "declared", "", "", 200, big, 100_000, false},
		{"HEAD", "declared", "", "", 200, "", 100_000, false},
		{"DELETE", "none", "", "", 204, "", 0, false},
		{"POST", "accepted", "Content-Length: 2\r\n", "hi", 202, "", 0, false},
		{"POST", "echo", "Content-Length: 2\r\n", "hi", 200, "hi", 2, false},
		{"POST", "echo", "Transfer-Encoding: chunked\r\n", "1\r\nh\r\n1\r\ni\r\n0\r\n\r\n", 200, "hi", 2, false},
		{"POST", "echo", "Transfer-Encoding: chunked\r\n", "2;x=y\r\nhi\r\n0\r\nT: 1\r\n\r\n", 200, "hi", 2, false},
		{"POST", "echo", "Content-Length: 100000\r\n", big, 200, big, -1, false},
		{"POST", "ignore", "Content-Length: 100000\r\n", big, 200, "ignored", 7, false},
		{"POST", "ignore", "Content-Length: 100\r\nExpect: 100-continue\r\n", "", 200, "ignored", 7, true},
		{"GET", "close", "", "", 200, "", 0, true},
		{"GET", "small", "Connection: close\r\n", "", 200, "small", 5, true},
	}
	for name, enter := range ways(t, l, unix) {
		c, base := enter()
		for _, r := range rows {
			c.send(fmt.Sprintf("%s %s%s HTTP/1.1\r\nHost: jira\r\n%s\r\n%s", r.method, base, r.path, r.fields, r.sends))
			res, body := c.response(r.method)
			if res.StatusCode != r.status || body != r.body || res.ContentLength != r.length || res.Close != r.closes {
				t.Errorf("%s: %s %s: %s, %d bytes, length %d, close %v", name, r.method, r.path, res.Status, len(body), res.ContentLength, res.Close)
			}
			if r.closes {
				c.ended()
				c, base = enter()
			}
		}
		c.send("POST " + base + "echo HTTP/1.1\r\nHost: jira\r\nContent-Length: 2\r\nExpect: 100-continue\r\n\r\n")
		if line, _ := c.r.ReadString('\n'); !strings.HasPrefix(line, "HTTP/1.1 100 ") {
			t.Errorf("%s: expectation: %q", name, line)
		}
		c.r.ReadString('\n')
		c.send("hi")
		if _, body := c.response("POST"); body != "hi" {
			t.Errorf("%s: after 100: %q", name, body)
		}
		c.send("GET " + base + "hints HTTP/1.1\r\nHost: jira\r\n\r\n")
		if res, _ := http.ReadResponse(c.r, nil); res == nil || res.StatusCode != 103 || res.Header.Get("Link") != "x" {
			t.Errorf("%s: hints: %v", name, res)
		}
		if _, body := c.response("GET"); body != "after" {
			t.Errorf("%s: after hints: %q", name, body)
		}
		c.send("GET " + base + "big HTTP/1.0\r\n\r\n")
		if res, body := c.response("GET"); body != big || !res.Close || len(res.TransferEncoding) > 0 {
			t.Errorf("%s: HTTP/1.0: %d bytes, %v", name, len(body), res.TransferEncoding)
		}
	}
}

// A handler that gives up leaves no answer that looks whole, and one panic is
// not the end of the proxy.
func TestHandlerGivesUp(t *testing.T) {
	l, _ := serverLab(t, func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/panic":
			io.WriteString(w, "half")
			w.(http.Flusher).Flush()
			panic("handler's own")
		case "/abort":
			w.(http.Flusher).Flush()
			panic(http.ErrAbortHandler)
		case "/short":
			w.Header().Set("Content-Length", "10")
			io.WriteString(w, "short")
		case "/long":
			w.Header().Set("Content-Length", "2")
			if _, err := w.Write(bytes.Repeat([]byte("x"), 10_000)); err != http.ErrContentLength {
				t.Errorf("more than declared: %v", err)
			}
		}
	})
	for _, path := range []string{"panic", "abort", "short", "long"} {
		c := l.dial()
		c.send("GET http://jira/" + path + " HTTP/1.1\r\nHost: jira\r\n\r\n")
		res, err := http.ReadResponse(c.r, nil)
		if err == nil {
			_, err = io.ReadAll(res.Body)
		}
		if err == nil {
			t.Errorf("%s: the answer looks whole", path)
		}
	}
	c := l.dial()
	c.send("GET http://jira/ HTTP/1.1\r\nHost: jira\r\n\r\n")
	if res, _ := c.response("GET"); res.StatusCode != 200 {
		t.Errorf("afterwards: %s", res.Status)
	}
}
