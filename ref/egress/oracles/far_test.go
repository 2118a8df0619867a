package oracles

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
	"unicode"
)

// patience bounds every wait of the lab; nothing asserts that one was short. In
// a tunnel some proxies let the client wait for what never comes.
const (
	patience       = 5 * time.Second
	tunnelPatience = 2 * time.Second
)

// The ports of the far side by what it does there.
const (
	portOne      = 1 // that of many targets in the table; echoes
	portHTTP     = 80
	portTLS      = 443  // echoes: nothing here looks inside
	portFirst    = 7001 // speaks first, then echoes
	portAfterEnd = 7002 // answers when the client has ended
	portEndsSoon = 7003 // ends its side and reads on
	portResets   = 7004 // cuts its answer by a reset
	portOther    = 9999 // no rule has it; echoes
)

// farPorts serve one connection each and return what came.
var farPorts = map[int]func(net.Conn, io.Reader) string{
	portOne: echo, portTLS: echo, portOther: echo, portHTTP: web,
	portFirst: func(c net.Conn, r io.Reader) string {
		io.WriteString(c, "220 ready\r\n")
		return echo(c, r)
	},
	portAfterEnd: func(c net.Conn, r io.Reader) string {
		got, _ := io.ReadAll(r)
		fmt.Fprintf(c, "got %d bytes", len(got))
		return string(got)
	},
	portEndsSoon: func(c net.Conn, r io.Reader) string {
		io.WriteString(c, "bye")
		c.(*net.TCPConn).CloseWrite()
		got, _ := io.ReadAll(r)
		return string(got)
	},
	portResets: func(c net.Conn, r io.Reader) string {
		io.WriteString(c, "half an answer")
		got := make([]byte, len(ping))
		n, _ := io.ReadFull(r, got)
		c.(*net.TCPConn).SetLinger(0)
		return string(got[:n])
	},
}

// far is the whole world beyond the proxy. It notes which address and port each
// connection was for, and what came.
type far struct {
	flushed chan struct{}

	mu      sync.Mutex
	ended   *sync.Cond
	open    int
	begun   bool // bytes came since the last call of taken
	dialled []string
	seen    []string
}

func newFar() (*far, error) {
	f := &far{flushed: make(chan struct{})}
	f.ended = sync.NewCond(&f.mu)
	for port, serve := range farPorts {
		ln, err := net.Listen("tcp", fmt.Sprintf(":%d", port))
		if err != nil {
			return nil, fmt.Errorf("listen as far side: %w", err)
		}
		go f.accept(ln, serve)
	}
	return f, nil
}

// flushAddr is for connections of the lab itself: what was queued at a listener
// before one of them has been accepted when it is.
const flushAddr = "127.9.9.9"

func (f *far) accept(ln net.Listener, serve func(net.Conn, io.Reader) string) {
	for {
		c, err := ln.Accept()
		if err != nil {
			return
		}
		to := c.LocalAddr().(*net.TCPAddr).AddrPort()
		at := to.Addr().Unmap().WithZone("")
		if at.String() == flushAddr {
			c.Close()
			f.flushed <- struct{}{}
			continue
		}
		f.mu.Lock()
		f.dialled = append(f.dialled, netip.AddrPortFrom(at, to.Port()).String())
		f.open++
		f.mu.Unlock()
		go func() {
			c.SetDeadline(time.Now().Add(patience))
			s := serve(c, noting{c, f})
			c.Close()
			f.mu.Lock()
			defer f.mu.Unlock()
			f.seen = append(f.seen, s)
			f.open--
			f.ended.Signal()
		}()
	}
}

// noting tells the far side that bytes came.
type noting struct {
	io.Reader
	f *far
}

func (r noting) Read(p []byte) (int, error) {
	n, err := r.Reader.Read(p)
	if n > 0 {
		r.f.mu.Lock()
		r.f.begun = true
		r.f.mu.Unlock()
	}
	return n, err
}

// awaitBytes returns when something came, or nothing does within a second.
func (f *far) awaitBytes() {
	for end := time.Now().Add(time.Second); time.Now().Before(end); time.Sleep(time.Millisecond) {
		f.mu.Lock()
		begun := f.begun
		f.mu.Unlock()
		if begun {
			return
		}
	}
}

// taken waits until every connection has ended, and returns what there was since
// the last call.
func (f *far) taken() (dialled, seen []string, err error) {
	for port := range farPorts {
		c, err := net.Dial("tcp", net.JoinHostPort(flushAddr, strconv.Itoa(port)))
		if err != nil {
			return nil, nil, fmt.Errorf("flush the far side: %w", err)
		}
		<-f.flushed
		c.Close()
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	for f.open > 0 {
		f.ended.Wait()
	}
	dialled, seen = f.dialled, f.seen
	f.begun, f.dialled, f.seen = false, nil, nil
	slices.Sort(dialled)
	slices.Sort(seen)
	return slices.Compact(dialled), seen, nil
}

func echo(c net.Conn, r io.Reader) string {
	var got bytes.Buffer
	io.Copy(c, io.TeeReader(r, &got))
	return got.String()
}

// webReply is what every request is answered by the far side.
const webReply = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\nok"

// confused is what the far side answers to what it does not understand.
const confused = "HTTP/1.1 599 What?\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"

// web answers requests until there are no more. Of a cut body it says nothing
// more: how much comes is a matter of chance.
func web(c net.Conn, r io.Reader) string {
	br := bufio.NewReader(r)
	if begin, _ := br.Peek(len(ping)); string(begin) == ping {
		return echo(c, br)
	}
	var seen []string
	for {
		if _, err := br.Peek(1); err != nil {
			return strings.Join(seen, " and ")
		}
		req, err := http.ReadRequest(br)
		if err != nil {
			if len(seen) == 0 {
				io.WriteString(c, confused)
			}
			io.Copy(io.Discard, br)
			return strings.Join(append(seen, "bytes that are no request"), " and ")
		}
		line := fmt.Sprintf("%s %s for %s", req.Method, req.RequestURI, req.Host)
		body, err := io.ReadAll(req.Body)
		if err != nil {
			io.WriteString(c, confused)
			io.Copy(io.Discard, br)
			return strings.Join(append(seen, "a broken "+line), " and ")
		}
		if len(body) > 0 {
			line += " with " + shown(string(body))
		}
		seen = append(seen, line)
		if req.Header.Get("Upgrade") == "websocket" {
			io.WriteString(c, "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\nfirst")
			echo(c, br)
			return strings.Join(seen, " and ")
		}
		io.WriteString(c, webReply)
	}
}

// shown is what came, in a length that can be read. How much there is of more
// depends on who is faster.
func shown(s string) string {
	if len(s) > 60 {
		return "many bytes"
	}
	return fmt.Sprintf("%q", s)
}

// arrived tells what came beside, or instead of, what a tunnel had to bring.
func arrived(seen []string, want string, tunnel bool) []string {
	var list []string
	for _, s := range seen {
		switch {
		case s == want, s == "" && !tunnel:
		case strings.Contains(want, s):
			list = append(list, "not all")
		case strings.HasPrefix(s, "\x16"):
			list = append(list, "a TLS ClientHello")
		case strings.ContainsFunc(s, unicode.IsControl):
			list = append(list, shown(s))
		default:
			list = append(list, s)
		}
	}
	return list
}
