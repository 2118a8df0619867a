package allowlist

import (
	"context"
	"encoding/binary"
	"fmt"
	"slices"

	"bridgecheck/fakes/attempt"
	"bridgecheck/fakes/upstream"
	"bridgecheck/suites/catalog"
	"bridgecheck/suites/kit"
	"bridgecheck/suites/subject"
)

// fronting is how a ClientHello for another host than the tunnel's is sent.
type fronting struct {
	first   int  // bytes in the first write; 0 for all
	broken  bool // it holds the tunnel's own name as well
	address bool // the tunnel leads to an address, which no TLS name equals
}

var _ = kit.Table(catalog.Case{
	ID:     "ALW-027",
	Title:  "cuts a tunnel whose TLS names another host",
	Must:   "Where SNI checking is claimed and on, a ClientHello whose SNI differs from the CONNECT host MUST be cut and reported.",
	Level:  catalog.Security,
	Clause: "5.27",
	Needs:  []subject.Capability{subject.Connect, subject.SNI},
	Faults: []string{"sni-unchecked", "broken-hello-passed", "sni-unchecked-for-addresses"},
	Why:    "Domain fronting: the tunnel leads to the shared front of many hosts, and TLS names one that is not declared.",
}, []kit.Row[fronting]{
	{Name: "whole", Value: fronting{}},
	{Name: "one-byte-first", Value: fronting{first: 1}},
	{Name: "split-in-name", Value: fronting{first: 200}},
	{Name: "broken", Value: fronting{broken: true}},
	{Name: "address", Value: fronting{address: true}},
}, func(ctx context.Context, t *kit.T, w fronting) {
	front := t.Upstream(upstream.TLS)
	rule := front.Rule()
	if w.address {
		rule.Host = publicAddress
	}
	host := fmt.Sprintf("%s:%d", rule.Host, rule.Port)
	phase := t.Start(ctx, subject.Spec{Allow: []subject.Rule{rule}, Proxy: &subject.Proxy{SNICheck: true}})
	agent := phase.Agent
	own := attempt.Attempt{Op: attempt.OpHTTP, URL: "https://" + host + "/", Via: "connect"}
	t.Control("TLS that names the CONNECT host, or no host for an address", agent.Do(ctx, own), kit.BeStatus(200))
	front.Heard()
	seen := len(front.Streams())

	hello := clientHello(t, "behind-the-front.test")
	if w.broken {
		hello = withSecondName(hello, rule.Host)
	}
	first := len(hello)
	if w.first > 0 {
		first = min(w.first, first)
	}
	t.Attempt("the tunnel is opened", agent.Connect(ctx, host), kit.BeStatus(200))
	agent.Send(ctx, "tunnel", hello[:first])
	if first < len(hello) {
		agent.Send(ctx, "tunnel", hello[first:])
	}
	answer := agent.Do(ctx, attempt.Attempt{Op: attempt.OpReceive, Conn: "tunnel", Until: "eof", TimeoutMS: 3000})
	t.Attempt("the tunnel ends", answer.Errno, kit.BeOneOf("", "ECONNRESET"))
	t.FarSide("bytes at the front for the attempt", bytesSince(ctx, t, front, seen), kit.BeNone())
	if t.Subject().Claims(subject.Events) {
		cut := phase.AwaitEvent(ctx, subject.EventDecision, func(e subject.Event) bool { return e.Verdict == "deny" })
		t.Attempt("target of the event that reports it", cut.Target, kit.Be(host))
		t.Attempt("reason", cut.Reason, kit.Differ(""))
	}
})

// bytesSince is what the connections after the first ones have brought to an
// upstream, once each has ended. Those before may still say goodbye: a control's
// close_notify is no byte of the attempt's.
func bytesSince(ctx context.Context, t *kit.T, u *kit.Upstream, seen int) int64 {
	u.Heard() // whoever came is counted
	t.Await(ctx, "the end of the attempt's connections at the front", func() bool {
		return !slices.ContainsFunc(u.Streams()[seen:], func(s upstream.Stream) bool { return !s.Ended })
	})
	var total int64
	for _, s := range u.Streams()[seen:] {
		total += s.Bytes
	}
	return total
}

// withSecondName adds a second server_name extension (RFC 6066 section 3), which
// a hello may not have (RFC 8446 section 4.2): a reader that takes the last one
// sees the declared name, a server that takes the first one the other.
func withSecondName(hello []byte, name string) []byte {
	hello = slices.Clone(hello)
	n := len(name)
	extension := slices.Concat(
		[]byte{0, 0, byte((n + 5) >> 8), byte(n + 5), byte((n + 3) >> 8), byte(n + 3), 0, byte(n >> 8), byte(n)}, []byte(name))
	const record, handshake = 5, 4
	extensions := record + handshake + 2 + 32                          // version and random
	extensions += 1 + int(hello[extensions])                           // session id
	extensions += 2 + int(binary.BigEndian.Uint16(hello[extensions:])) // cipher suites
	extensions += 1 + int(hello[extensions])                           // compression methods
	for _, at := range []int{3, record + 2, extensions} {              // lengths of record, handshake (its lower bytes) and extensions
		binary.BigEndian.PutUint16(hello[at:], binary.BigEndian.Uint16(hello[at:])+uint16(len(extension)))
	}
	return append(hello, extension...)
}
