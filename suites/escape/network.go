package escape

import (
	"context"
	"net/netip"

	"bridgecheck/fakes/attempt"
	"bridgecheck/fakes/upstream"
	"bridgecheck/suites/catalog"
	"bridgecheck/suites/kit"
	"bridgecheck/suites/subject"
)

// way is one way out by packets, with the errnos that are right refusals. What
// has no port has no kind of server either.
type way struct {
	network string
	kind    upstream.Kind
	host    string
	errnos  []string
}

// The errnos of a namespace without a way: no route, an address family or port
// that a policy refuses before routing, or a refusal by the sandbox's own end.
var unreachable = []string{"ENETUNREACH", "EACCES", "EPERM", "EADDRNOTAVAIL", "ECONNREFUSED"}

var _ = kit.Table(catalog.Case{
	ID:      "ESC-001",
	Title:   "cannot reach a host by packets of its own",
	Must:    "TCP, UDP, ICMP and raw packets to a live host address, IPv4 and IPv6, MUST fail locally, and the host MUST NOT hear of them.",
	Level:   catalog.Security,
	Clause:  "11.1",
	Needs:   []subject.Capability{subject.NetNS},
	Host:    []catalog.HostFact{catalog.HostUserNS},
	RowHost: []catalog.HostFact{catalog.HostRoot},
	Faults:  []string{"host-netns-shared"},
	Why:     "The proxy is the only way out only if there is no other.",
}, []kit.Row[way]{
	{Name: "tcp4", Value: way{"tcp4", upstream.RawEcho, "203.0.113.20", unreachable}},
	{Name: "tcp6", Value: way{"tcp6", upstream.RawEcho, "2001:db8::20", unreachable}},
	{Name: "udp4", Value: way{"udp4", upstream.UDP, "203.0.113.20", unreachable}},
	{Name: "udp6", Value: way{"udp6", upstream.UDP, "2001:db8::20", unreachable}},
	{Name: "icmp4", Value: way{"icmp", "", "203.0.113.20", unreachable}},
	{Name: "icmp6", Value: way{"icmp", "", "2001:db8::20", unreachable}},
	{Name: "raw4", Value: way{"raw", "", "203.0.113.20", unreachable}},
	{Name: "raw6", Value: way{"raw", "", "2001:db8::20", unreachable}},
}, func(ctx context.Context, t *kit.T, w way) {
	address := netip.MustParseAddr(w.host)
	if address.Is6() {
		t.RequireHost(catalog.HostIPv6)
	}
	if w.kind == "" {
		ping(ctx, t, w)
		return
	}
	host := t.UpstreamAt(w.kind, w.host)
	hello := attempt.Attempt{Op: attempt.OpDial, Network: w.network, Address: host.Addr().String(), Data: []byte("ping"), Until: "size", Size: 4}
	t.Control("the host answers outside", t.Outside(ctx).Do(ctx, hello), kit.HaveData("ping"))
	before := host.Heard()

	agent := t.Start(ctx, subject.Spec{}).Agent
	t.Attempt("the same from the sandbox", agent.Do(ctx, hello), kit.HaveErrno(w.errnos...))
	t.FarSide("packets or connections the host heard since", host.Heard()-before, kit.BeNone())
})
