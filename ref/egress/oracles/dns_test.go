package oracles

import (
	"fmt"
	"net"
	"net/netip"
	"strings"
	"sync"

	"golang.org/x/net/dns/dnsmessage"
)

// dns is the only name server of a lab. It answers by script and notes what it
// was asked.
type dns struct {
	conn    net.PacketConn
	answers map[string][]netip.Addr // beside the rules in addresses

	mu    sync.Mutex
	asked map[string]int // questions by name and type since the last call of taken
}

// public is where every name leads that has no other answer.
var public = netip.MustParseAddr("192.0.2.10")

func newDNS(answers map[string][]netip.Addr) (*dns, error) {
	conn, err := net.ListenPacket("udp", "127.0.0.1:53")
	if err != nil {
		return nil, fmt.Errorf("listen as name server: %w", err)
	}
	d := &dns{conn: conn, answers: answers, asked: map[string]int{}}
	go d.serve()
	return d, nil
}

func (d *dns) serve() {
	buf := make([]byte, 4096)
	for {
		n, from, err := d.conn.ReadFrom(buf)
		if err != nil {
			return
		}
		if reply := d.reply(buf[:n]); reply != nil {
			if _, err := d.conn.WriteTo(reply, from); err != nil {
				return
			}
		}
	}
}

func (d *dns) reply(query []byte) []byte {
	var p dnsmessage.Parser
	h, err := p.Start(query)
	if err != nil {
		return nil
	}
	q, err := p.Question()
	if err != nil {
		return nil
	}
	name := strings.ToLower(strings.TrimSuffix(q.Name.String(), "."))
	addrs, found := d.addresses(name, q.Type)
	m := dnsmessage.Message{
		Header:    dnsmessage.Header{ID: h.ID, Response: true, Authoritative: true, RecursionDesired: h.RecursionDesired, RecursionAvailable: true},
		Questions: []dnsmessage.Question{q},
	}
	if !found {
		m.RCode = dnsmessage.RCodeNameError
	}
	for _, a := range addrs {
		r := dnsmessage.Resource{Header: dnsmessage.ResourceHeader{Name: q.Name, Class: dnsmessage.ClassINET}}
		switch {
		case a.Is4() && q.Type == dnsmessage.TypeA:
			r.Body = &dnsmessage.AResource{A: a.As4()}
		case a.Is6() && q.Type == dnsmessage.TypeAAAA:
			r.Body = &dnsmessage.AAAAResource{AAAA: a.As16()}
		default:
			continue
		}
		m.Answers = append(m.Answers, r)
	}
	reply, err := m.Pack()
	if err != nil {
		return nil
	}
	return reply
}

// addresses is the script. rebind.test has another answer from the second
// question on, for an address that nobody may dial.
func (d *dns) addresses(name string, kind dnsmessage.Type) ([]netip.Addr, bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	question := name + " " + kind.String()
	d.asked[question]++
	if list, ok := d.answers[name]; ok {
		return list, len(list) > 0
	}
	switch {
	case name == "rebind.test" && kind == dnsmessage.TypeA:
		if d.asked[question] > 1 {
			return []netip.Addr{netip.MustParseAddr("127.0.0.1")}, true
		}
		return []netip.Addr{public}, true
	case strings.HasSuffix(name, ".test"), strings.HasSuffix(name, ".example"):
		return []netip.Addr{public}, true
	}
	return nil, false
}

// taken tells whether there was a question since the last call.
func (d *dns) taken() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	any := len(d.asked) > 0
	clear(d.asked)
	return any
}
