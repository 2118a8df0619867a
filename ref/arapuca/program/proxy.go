package program

import (
	"context"
	"errors"
	"io"
	"net"
	"net/netip"
	"strconv"
	"strings"
	"time"

	"github.com/LeGambiArt/go-arapuca/behaviour"
)

// The documented limits of the proxy.
const (
	headBytes   = 2048
	headTimeout = 30 * time.Second
	dialTimeout = 15 * time.Second
	connections = 64
	idle        = 300 * time.Second
)

// The answers; none has a body.
const (
	established = "HTTP/1.1 200 Connection Established\r\n\r\n"
	malformed   = "HTTP/1.1 400 Bad Request\r\n\r\n"
	forbidden   = "HTTP/1.1 403 Forbidden\r\n\r\n"
	unavailable = "HTTP/1.1 503 Service Unavailable\r\n\r\n"
	badGateway  = "HTTP/1.1 502 Bad Gateway\r\n\r\n"
)

// proxy serves CONNECT to what its rules allow.
type proxy struct{ rules []rule }

// busy answers a connection that is one too many, whatever it asks. What it sends
// is read for a moment: closing over it would take the answer back.
func busy(c net.Conn) {
	if behaviour.Has(behaviour.LimitSilent) {
		return
	}
	_, _ = io.WriteString(c, unavailable)
	_ = c.SetReadDeadline(time.Now().Add(time.Second))
	if half, ok := c.(interface{ CloseWrite() error }); ok {
		_ = half.CloseWrite() // it may have gone
	}
	_, _ = io.Copy(io.Discard, c)
}

func (p *proxy) handle(c net.Conn) {
	host, port, err := readConnect(c)
	if err != nil {
		if !behaviour.Has(behaviour.SilentClose) {
			_, _ = io.WriteString(c, malformed)
		}
		return
	}
	far, refusal := p.dial(host, port)
	if far == nil {
		_, _ = io.WriteString(c, refusal)
		return
	}
	defer far.Close()
	if _, err := io.WriteString(c, established); err == nil {
		splice(c, far)
	}
}

// dial judges the name before it is looked up, and dials one address that was
// judged.
func (p *proxy) dial(host string, port uint16) (net.Conn, string) {
	var by *rule
	for i, r := range p.rules {
		if r.matches(host, port) {
			by = &p.rules[i]
			break
		}
	}
	if by == nil {
		return nil, forbidden
	}
	ctx, cancel := context.WithTimeout(context.Background(), dialTimeout)
	defer cancel()
	addrs, err := lookUp(ctx, host)
	if err != nil {
		return nil, badGateway
	}
	answer := forbidden
	for _, a := range addrs {
		if !by.permits(a) {
			continue
		}
		var d net.Dialer
		if c, err := d.DialContext(ctx, "tcp", netip.AddrPortFrom(a.Unmap(), port).String()); err == nil {
			return c, ""
		}
		answer = badGateway
	}
	return nil, answer
}

func lookUp(ctx context.Context, host string) ([]netip.Addr, error) {
	if a, err := netip.ParseAddr(host); err == nil {
		return []netip.Addr{a}, nil
	}
	if host == "localhost" { // RFC 6761, section 6.3
		return []netip.Addr{netip.AddrFrom4([4]byte{127, 0, 0, 1}), netip.IPv6Loopback()}, nil
	}
	// A trailing dot keeps the search list out.
	return net.DefaultResolver.LookupNetIP(ctx, "ip", host+".")
}

var errHead = errors.New("no CONNECT request")

// readConnect reads the head byte by byte: what follows belongs to the tunnel.
func readConnect(c net.Conn) (host string, port uint16, err error) {
	head := make([]byte, 0, headBytes)
	for !strings.HasSuffix(string(head), "\r\n\r\n") {
		if len(head) == headBytes {
			return "", 0, errHead
		}
		if err := c.SetReadDeadline(time.Now().Add(headTimeout)); err != nil {
			return "", 0, err
		}
		n, err := c.Read(head[len(head) : len(head)+1])
		if n == 0 && err != nil {
			return "", 0, err
		}
		if head = head[:len(head)+n]; head[0]|0x20 < 'a' || head[0]|0x20 > 'z' {
			return "", 0, errHead // another protocol, which may never end its line
		}
	}
	line, _, _ := strings.Cut(string(head), "\r\n")
	words := strings.Split(line, " ")
	if len(words) != 3 || !strings.EqualFold(words[0], "CONNECT") || words[2] != "HTTP/1.1" && words[2] != "HTTP/1.0" {
		return "", 0, errHead
	}
	if host, port, err = target(words[1]); err != nil {
		return "", 0, err
	}
	return host, port, c.SetReadDeadline(time.Time{})
}

// target reads HOST:PORT, or [ADDRESS]:PORT, and gives the host as rules have it.
func target(text string) (host string, port uint16, err error) {
	i := strings.LastIndexByte(text, ':')
	if i < 0 {
		return "", 0, errHead
	}
	number, err := strconv.ParseUint(text[i+1:], 10, 16)
	if err != nil || number == 0 || text[i+1] < '0' || text[i+1] > '9' {
		return "", 0, errHead
	}
	host = strings.ToLower(text[:i])
	if inner, ok := strings.CutPrefix(host, "["); ok {
		a, err := netip.ParseAddr(strings.TrimSuffix(inner, "]"))
		if err != nil || !a.Is6() || a.Zone() != "" || !strings.HasSuffix(inner, "]") {
			return "", 0, errHead
		}
		return a.String(), uint16(number), nil
	}
	dotless, dotted := strings.CutSuffix(host, ".")
	_, literal := netip.ParseAddr(dotless)
	switch {
	case dotted && literal == nil, dotless == "", dotless[0] == '.', strings.Contains(host, ".."), strings.Trim(host, hostBytes) != "":
		return "", 0, errHead
	}
	return dotless, uint16(number), nil
}
