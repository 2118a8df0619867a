package oracles

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"net/netip"
	"slices"
	"strconv"

	"bridgecheck/ref/egress"
	"bridgecheck/ref/egress/internal/vectors"
)

// vector is what a client does, and why our answer to it is right.
type vector struct {
	name string
	// source is the section of a specification, why a sentence where the source
	// and our own refusal do not say enough.
	source, why string
	sends       string
	// requests is how many answers are asked for; 0 means one.
	requests int
	// ends closes the client's side after sends, endsLate when bytes have
	// come to the far side.
	ends, endsLate bool
	// drips goes on with a byte at a time, for as long as the connection lasts.
	drips bool
	// inTunnel is sent in a tunnel, reply has to come back, farGets has to arrive
	// at the other end: by default ping, the same, and the same.
	inTunnel, reply, farGets string
	order                    order
	resets                   bool       // the tunnel ends by a reset
	raced                    bool       // what another proxy does depends on who is faster: it is not compared
	about                    netip.Addr // what the name leads to, where that is the question
}

// order is who ends its side of a tunnel first: the client when it has the
// reply, the client before the reply, the server.
type order int

const (
	replyFirst order = iota
	clientEnds
	serverEnds
)

const ping = "ping"

// allVectors are those of package egress's own tests, then those of this
// package. A name stands once.
func allVectors() ([]vector, error) {
	bad, err := badRequests()
	if err != nil {
		return nil, err
	}
	all := slices.Concat(bad, targets(), framings(), classes(), policy, resolution, tunnels, pipelines)
	seen := map[string]bool{}
	for i, v := range all {
		if seen[v.name] || v.source == "" {
			return nil, fmt.Errorf("vector %q stands twice or has no source", v.name)
		}
		seen[v.name] = true
		all[i].inTunnel = cmp.Or(v.inTunnel, ping)
		all[i].reply = cmp.Or(v.reply, all[i].inTunnel)
		all[i].farGets = cmp.Or(v.farGets, all[i].inTunnel)
	}
	return all, nil
}

func badRequests() ([]vector, error) {
	rows, err := vectors.DocRows("../doc.go", "kind of request")
	if err != nil {
		return nil, err
	}
	var list []vector
	for _, row := range rows {
		list = append(list, vector{name: row[0], source: row[3], sends: vectors.BadRequests[row[0]], ends: row[0] == vectors.EndsEarly})
	}
	return list, nil
}

func targets() []vector {
	var list []vector
	for _, t := range vectors.Targets {
		list = append(list, vector{name: "target " + strconv.QuoteToASCII(short(t.In)), source: t.Source, sends: vectors.Connect(t.In)})
	}
	return list
}

func framings() []vector {
	const head = "POST http://web.test/p HTTP/1.1\r\nHost: web.test\r\n"
	var list []vector
	for _, f := range vectors.Framings {
		list = append(list, vector{name: "framing " + f.Name, source: f.Source, sends: head + f.Fields + "\r\n" + f.Body})
	}
	for _, body := range vectors.BrokenBodies {
		list = append(list, vector{
			name: "chunked body " + strconv.QuoteToASCII(body), source: "RFC 9112 section 7.1",
			why:   "no upstream gets it as a whole body",
			sends: head + "Transfer-Encoding: chunked\r\n\r\n" + body, endsLate: body == vectors.CutBody,
		})
	}
	return list
}

// classes is a name for each edge of each class of addresses, and for what
// translators carry.
func classes() []vector {
	var list []vector
	for _, a := range edges() {
		c := egress.Classify(a)
		list = append(list, vector{
			name: fmt.Sprintf("a name for %s, %s", a, c.Name), source: c.Source,
			why: "the address that is dialled is judged, not the name alone", sends: vectors.Connect(nameOf(a) + ":443"), about: a,
		})
	}
	return list
}

func edges() []netip.Addr {
	var list []netip.Addr
	add := func(a netip.Addr) {
		// A mapped address and its IPv4 address are one to all who dial.
		if !slices.Contains(list, a) {
			list = append(list, a)
		}
	}
	for _, c := range egress.Classes() {
		if c.Prefix.Bits() == 0 {
			continue
		}
		add(c.Prefix.Addr())
		add(last(c.Prefix))
	}
	for _, s := range []string{
		"::ffff:127.0.0.1", "::ffff:10.0.0.1", "::ffff:192.0.2.7", "64:ff9b::127.0.0.1", "64:ff9b::169.254.169.254",
		"2002:7f00:1::", "2002:a00:1::", "2001:0:7f00:1::", "::127.0.0.1", "::ffff:0:127.0.0.1",
	} {
		add(netip.MustParseAddr(s))
	}
	return list
}

func last(p netip.Prefix) netip.Addr {
	b := p.Addr().AsSlice()
	for i := p.Bits(); i < len(b)*8; i++ {
		b[i/8] |= 0x80 >> (i % 8)
	}
	a, _ := netip.AddrFromSlice(b)
	return a
}

func nameOf(a netip.Addr) string {
	if a.Is4() {
		return fmt.Sprintf("v4-%08x.test", binary.BigEndian.Uint32(a.AsSlice()))
	}
	return fmt.Sprintf("v6-%x.test", a.AsSlice())
}

// scripted are the answers of the name server beside its rule.
func scripted() map[string][]netip.Addr {
	answers := map[string][]netip.Addr{
		"gone.test":    nil,
		"inside.test":  {netip.MustParseAddr("10.0.0.5")},
		"mixed.test":   {netip.MustParseAddr("10.0.0.5"), netip.MustParseAddr("192.0.2.11")},
		"private.test": {netip.MustParseAddr("10.0.0.5"), netip.MustParseAddr("127.0.0.1")},
	}
	for _, a := range edges() {
		answers[nameOf(a)] = []netip.Addr{a}
	}
	return answers
}

func get(target, host string) string {
	return "GET " + target + " HTTP/1.1\r\nHost: " + host + "\r\n" + "\r\n"
}
