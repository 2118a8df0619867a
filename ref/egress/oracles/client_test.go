package oracles

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// outcome is what a proxy made of a vector, told by everybody but itself. What
// depends on who is faster does not stand in it.
type outcome struct {
	// Answers are the status codes in their order; then "silent" if the proxy
	// neither answered nor ended the connection in time, "closed" if it ended it
	// without an answer, "garbled" for an answer that is no HTTP.
	Answers []string
	// Message is our proxy's own, for the reader.
	Message string
	// Tunnel tells that one was opened; Lacks is what did not arrive of what had
	// to, at the client's end.
	Tunnel bool
	Lacks  []string
	// Looked tells that a name was looked up; Dialled are the addresses that were
	// connected, Seen is what the far side got.
	Looked        bool
	Dialled, Seen []string
}

func (o outcome) String() string {
	parts := []string{strings.Join(o.Answers, " ")}
	switch dialled := strings.Join(o.Dialled, " and "); {
	case o.Tunnel:
		parts = append(parts, "tunnel to "+dialled)
	case dialled != "":
		parts = append(parts, "dialled "+dialled)
	case o.Looked:
		parts = append(parts, "after a lookup")
	}
	if len(o.Seen) > 0 {
		parts = append(parts, "far side: "+strings.Join(o.Seen, "; "))
	}
	return strings.Join(append(parts, o.Lacks...), ", ")
}

func short(s string) string {
	if len(s) > 60 {
		return fmt.Sprintf("%s...%s (%d)", s[:20], s[len(s)-20:], len(s))
	}
	return s
}

// send plays the client of one vector.
func send(addr string, v vector, world *far) (outcome, error) {
	var o outcome
	c, err := net.Dial("tcp", addr)
	if err != nil {
		return o, fmt.Errorf("dial the proxy: %w", err)
	}
	defer c.Close()
	c.SetDeadline(time.Now().Add(patience))
	io.WriteString(c, v.sends) // an error shows in the answer
	if v.drips {
		c.SetDeadline(time.Now().Add(3 * headTimeout))
		go drip(c)
	}
	if v.endsLate {
		world.awaitBytes()
	}
	if v.ends || v.endsLate {
		c.(*net.TCPConn).CloseWrite()
	}
	r := bufio.NewReader(c)
	for answers := 0; ; {
		res, err := http.ReadResponse(r, &http.Request{Method: method(v)})
		if err != nil {
			if end := endOf(err); answers == 0 || end == "garbled" {
				o.Answers = append(o.Answers, end)
			}
			return o, nil
		}
		o.Answers = append(o.Answers, strconv.Itoa(res.StatusCode))
		if method(v) == http.MethodConnect && res.StatusCode == 200 || res.StatusCode == http.StatusSwitchingProtocols {
			o.Tunnel, o.Lacks = true, inTunnel(c.(*net.TCPConn), r, v)
			return o, nil
		}
		if res.StatusCode < 200 {
			continue
		}
		body, _ := io.ReadAll(res.Body)
		if answers == 0 {
			o.Message = message(body)
		}
		if answers++; answers == max(v.requests, 1) {
			// What comes now was asked for by nobody.
			c.(*net.TCPConn).CloseWrite()
		}
	}
}

// drip sends more often than any of the proxies loses patience with one read.
func drip(c net.Conn) {
	for {
		if _, err := io.WriteString(c, "x"); err != nil {
			return
		}
		time.Sleep(headTimeout / 5)
	}
}

// method is that of the first request.
func method(v vector) string {
	m, _, _ := strings.Cut(strings.TrimSpace(v.sends), " ")
	return m
}

// endOf names how a connection ended instead of an answer. Whether an end is
// plain or a reset depends on what the proxy had read, which is nobody's matter.
func endOf(err error) string {
	switch {
	case errors.Is(err, os.ErrDeadlineExceeded):
		return "silent"
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, syscall.ECONNRESET):
		return "closed"
	}
	return "garbled"
}

// inTunnel sends what the vector has for the tunnel, and tells what is missing in
// what comes back.
func inTunnel(c *net.TCPConn, r io.Reader, v vector) []string {
	c.SetDeadline(time.Now().Add(tunnelPatience))
	var got, rest []byte
	var err error
	switch v.order {
	case serverEnds:
		got, err = io.ReadAll(r)
		io.WriteString(c, v.inTunnel)
		c.CloseWrite()
	case clientEnds:
		io.WriteString(c, v.inTunnel)
		c.CloseWrite()
		got, err = io.ReadAll(r)
	default:
		io.WriteString(c, v.inTunnel)
		got = make([]byte, len(v.reply))
		var n int
		n, err = io.ReadFull(r, got)
		got = got[:n]
		if err == nil {
			c.CloseWrite()
			rest, err = io.ReadAll(r)
		}
	}
	var lacks []string
	switch got := string(got) + string(rest); {
	case got == v.reply:
	case strings.HasPrefix(v.reply, got):
		lacks = append(lacks, "the client gets not all")
	default:
		lacks = append(lacks, "the client gets "+shown(got))
	}
	switch {
	case errors.Is(err, os.ErrDeadlineExceeded):
		lacks = append(lacks, "the client sees no end")
	case v.resets != errors.Is(err, syscall.ECONNRESET):
		lacks = append(lacks, map[bool]string{true: "the client sees an end, no reset", false: "the client sees a reset"}[v.resets])
	}
	return lacks
}
