package egress

import (
	"context"
	"errors"
	"net"
	"strings"
	"testing"

	"golang.org/x/net/dns/dnsmessage"
)

// dnsServer answers A queries for names of its table and notes what is asked.
func dnsServer(t *testing.T, table map[string][4]byte) (addr string, asked func() []string) {
	t.Helper()
	pc, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	done := make(chan struct{})
	go func() {
		defer close(done)
		buf := make([]byte, 1500)
		for {
			n, from, err := pc.ReadFrom(buf)
			if err != nil {
				return
			}
			var m dnsmessage.Message
			if m.Unpack(buf[:n]) != nil || len(m.Questions) != 1 {
				continue
			}
			q := m.Questions[0]
			names = append(names, q.Name.String())
			m.Response, m.RCode, m.Additionals = true, dnsmessage.RCodeNameError, nil
			if ip, ok := table[q.Name.String()]; ok {
				m.RCode = dnsmessage.RCodeSuccess
				if q.Type == dnsmessage.TypeA {
					m.Answers = []dnsmessage.Resource{{
						Header: dnsmessage.ResourceHeader{Name: q.Name, Class: q.Class, TTL: 1},
						Body:   &dnsmessage.AResource{A: ip},
					}}
				}
			}
			out, _ := m.Pack()
			pc.WriteTo(out, from)
		}
	}()
	stop := func() { pc.Close(); <-done }
	t.Cleanup(stop)
	return pc.LocalAddr().String(), func() []string { stop(); return names }
}

// Names are asked for as they were judged: no search domain, and nothing that
// looks like an address to a lenient parser is taken for one.
func TestResolverAsksTheGivenServer(t *testing.T) {
	addr, asked := dnsServer(t, map[string][4]byte{"a.test.": {203, 0, 113, 1}, "0x7f000001.": {203, 0, 113, 2}, "single.": {203, 0, 113, 3}})
	r, err := NewResolver(addr)
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{"a.test": "203.0.113.1", "0x7f000001": "203.0.113.2", "single": "203.0.113.3"} {
		ips, err := r.LookupNetIP(t.Context(), "ip", name)
		if err != nil || len(ips) != 1 || ips[0].Unmap().String() != want {
			t.Errorf("%s: %v, %v", name, ips, err)
		}
	}
	var dns *net.DNSError
	for _, name := range []string{"missing.test", "missing", "127.1", "2130706433"} {
		if _, err := r.LookupNetIP(t.Context(), "ip", name); !errors.As(err, &dns) || !dns.IsNotFound {
			t.Errorf("%s: %v", name, err)
		}
	}
	for _, name := range asked() {
		if n := strings.Count(name, "."); n > 2 {
			t.Errorf("%s was asked for", name)
		}
	}
}

func TestNewResolverChecksItsServer(t *testing.T) {
	for _, s := range []string{"192.0.2.53", "ns.test:53", "192.0.2.53:0", ":53", "192.0.2.53:domain"} {
		if _, err := NewResolver(s); err == nil {
			t.Errorf("%q is accepted", s)
		}
	}
	for _, s := range []string{"", "192.0.2.53:53", "[2001:db8::53]:53"} {
		if _, err := NewResolver(s); err != nil {
			t.Errorf("%q: %v", s, err)
		}
	}
}

func TestLookupOfCancelledRequest(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	err := lookupError(ctx, Authority{Name: "a.test", Port: 1}, errors.New("x"))
	if err.reason != ReasonClientGone {
		t.Errorf("%v", err.reason)
	}
}
