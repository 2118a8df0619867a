package probe

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"bridgecheck/fakes/attempt"
	"bridgecheck/fakes/content"
)

// bodyBytes is how much of a body goes into an observation.
const bodyBytes = 1 << 20

// http makes one request on a connection of its own and reports the answer. The
// request target goes out as the URL has it; a Host header replaces the URL's.
// The body is Data, or Size bytes of Seed.
// Address, when set, is the proxy to use instead of the environment's; Path a
// Unix socket to go to directly. Text is
// "connect" when what answered was the proxy refusing the tunnel. With Conn the
// attempt ends with the head of the answer, and the body is what receive reads
// of the connection.
func (p *Probe) http(ctx context.Context, a attempt.Attempt) attempt.Observation {
	t, err := parseTarget(a.URL)
	if err != nil {
		return failed(err)
	}
	kind, proxy, err := way(a.Via, a.Address, t)
	if err != nil {
		return failed(err)
	}
	var o attempt.Observation
	var c *conn
	requestTarget, extra := t.path, ""
	switch kind {
	case viaConnect:
		var answer *http.Response
		c, answer, err = tunnel(ctx, proxy, t.hostPort()) //nolint:bodyclose // what follows a 2xx is the tunnel
		if err == nil && answer.StatusCode/100 != 2 {
			defer func() { _ = c.Close() }()
			o.Text = viaConnect
			note(&o, readAnswer(answer, &o))
			return o
		}
	case viaProxy:
		c, err = dialConn(ctx, "tcp", proxy.Host)
		requestTarget = t.scheme + "://" + t.authority + t.path
		if credentials := authorization(proxy); credentials != "" {
			extra = "Proxy-Authorization: " + credentials + "\r\n"
		}
		for name, value := range manners(a.Via, kind) {
			extra += name + ": " + value + "\r\n"
		}
	default:
		network, where := "tcp", t.hostPort()
		if a.Path != "" {
			network, where = "unix", a.Path
		}
		c, err = dialConn(ctx, network, where)
	}
	if err != nil {
		return failed(err)
	}
	o.Local, o.Remote = address(c.LocalAddr()), address(c.RemoteAddr())
	note(&o, c.roundTrip(ctx, a, t, kind, requestTarget, extra, &o))
	if a.Conn == "" || o.Errno != "" {
		_ = c.Close()
		return o
	}
	_ = c.SetDeadline(time.Time{})
	p.keep(a.Conn, c)
	return o
}

// roundTrip writes the request and reads the answer.
func (c *conn) roundTrip(ctx context.Context, a attempt.Attempt, t target, kind, requestTarget, extra string, o *attempt.Observation) error {
	if t.scheme == "https" && kind != viaProxy {
		if err := c.encrypt(ctx, t.hostname()); err != nil {
			return fmt.Errorf("TLS handshake: %w", err)
		}
	}
	method := a.Method
	if method == "" {
		method = http.MethodGet
	}
	request := requestHead(method, requestTarget, t.authority, extra, a)
	sent := make(chan error, 1)
	// The answer may come before the body is taken: read it all the same.
	go func() {
		_, err := c.Write(request)
		if err == nil {
			_, err = io.Copy(c.Conn, outgoing(a))
		}
		sent <- err
	}()
	err := c.readFinal(method, a.Conn != "", o)
	if err != nil {
		select {
		case writeErr := <-sent:
			if writeErr != nil {
				return writeErr
			}
		default:
		}
	}
	return err
}

// requestHead is the request line and header section.
func requestHead(method, requestTarget, host, extra string, a attempt.Attempt) []byte {
	var head bytes.Buffer
	fmt.Fprintf(&head, "%s %s HTTP/1.1\r\n", method, requestTarget)
	given := func(name string) bool {
		for key := range a.Headers {
			if strings.EqualFold(key, name) {
				return true
			}
		}
		return false
	}
	if !given("Host") {
		fmt.Fprintf(&head, "Host: %s\r\n", host)
	}
	head.WriteString(extra)
	for _, name := range slices.Sorted(maps.Keys(a.Headers)) {
		fmt.Fprintf(&head, "%s: %s\r\n", name, a.Headers[name])
	}
	length := int64(len(a.Data))
	if length == 0 {
		length = a.Size
	}
	if length > 0 && !given("Content-Length") && !given("Transfer-Encoding") {
		fmt.Fprintf(&head, "Content-Length: %d\r\n", length)
	}
	if !given("Connection") {
		head.WriteString("Connection: close\r\n")
	}
	head.WriteString("\r\n")
	return head.Bytes()
}

// readFinal reads past interim answers (RFC 9110 15.2) to the final one; 101 is
// final here, since what follows it is no HTTP. With open the body is left to
// whoever reads the connection next.
func (c *conn) readFinal(method string, open bool, o *attempt.Observation) error {
	for {
		answer, err := http.ReadResponse(c.reader, &http.Request{Method: method})
		if err != nil {
			return err
		}
		switch {
		case answer.StatusCode < 200 && answer.StatusCode != http.StatusSwitchingProtocols:
			_ = answer.Body.Close() // an interim answer has none
		case open:
			readHead(answer, o)
			c.reader = bufio.NewReader(answer.Body)
			return nil
		default:
			return readAnswer(answer, o)
		}
	}
}

// readHead reports status, phrase and headers; several of one name are joined
// with a comma (RFC 9110 5.3).
func readHead(answer *http.Response, o *attempt.Observation) {
	o.Status = answer.StatusCode
	_, o.Phrase, _ = strings.Cut(answer.Status, " ")
	o.Headers = map[string]string{}
	for name, values := range answer.Header {
		o.Headers[name] = strings.Join(values, ", ")
	}
}

// readAnswer reports the head and the body: up to 1 MiB of text in Body, or up
// to 64 KiB of anything else in Data.
func readAnswer(answer *http.Response, o *attempt.Observation) error {
	readHead(answer, o)
	if answer.StatusCode == http.StatusSwitchingProtocols {
		return nil
	}
	defer func() { _ = answer.Body.Close() }()
	sink := content.Digest{Keep: bodyBytes}
	_, err := io.Copy(&sink, answer.Body)
	o.Bytes, o.SHA256 = sink.Bytes, sink.SHA256()
	if utf8.Valid(sink.Head) {
		o.Body = string(sink.Head)
	} else { // JSON strings cannot carry it
		o.Data = sink.Head[:min(len(sink.Head), keepBytes)]
	}
	return err
}
