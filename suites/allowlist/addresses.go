package allowlist

import (
	"context"
	"fmt"
	"net"

	"bridgecheck/fakes/dns"
	"bridgecheck/fakes/upstream"
	"bridgecheck/suites/catalog"
	"bridgecheck/suites/kit"
	"bridgecheck/suites/subject"
)

// special is an address that no declared name may lead to.
type special struct {
	address string
	// listen is where the lab hears of a dial to the address; empty where none
	// can be made: TCP has no multicast and no broadcast.
	listen string
}

// at is a special address that the lab itself can listen on.
func at(address string) special { return special{address, address} }

var _ = kit.Table(catalog.Case{
	ID:     "ALW-012",
	Title:  "does not dial a special-use address behind a declared name",
	Must:   "An address behind a declared name MUST NOT be dialled when it is special-use or a cloud's metadata service, also when it is IPv4 embedded in IPv6. The documentation ranges (RFC 5737, RFC 3849) are nobody's inside.",
	Level:  catalog.Security,
	Clause: "5.12",
	Needs:  []subject.Capability{subject.Connect},
	Faults: []string{"special-use-dialled", "shared-space-public", "protocol-assignments-public", "cloud-metadata-public", "local-translation-public", "embedded-address-unseen"},
	Why:    "Whoever owns a declared name decides where it leads: to the metadata service, to the network behind the host, to the host itself.",
}, []kit.Row[special]{
	{Name: "loopback", Value: at("127.0.0.1")},
	{Name: "loopback-v6", Value: at("::1")},
	{Name: "private-10", Value: at("10.1.2.3")},
	{Name: "private-172", Value: at("172.31.255.254")},
	{Name: "private-192", Value: at("192.168.0.1")},
	{Name: "link-local", Value: at("169.254.1.1")},
	{Name: "metadata", Value: at("169.254.169.254")},
	{Name: "metadata-azure", Value: at("168.63.129.16")},
	{Name: "metadata-alibaba", Value: at("100.100.100.200")},
	{Name: "protocol-assignments", Value: at("192.0.0.8")},
	{Name: "cgnat", Value: at("100.64.0.1")},
	{Name: "zero", Value: special{"0.0.0.0", "127.0.0.1"}}, // Linux dials itself
	{Name: "benchmark", Value: at("198.19.255.254")},
	{Name: "reserved", Value: at("240.0.0.1")},
	{Name: "broadcast", Value: special{"255.255.255.255", ""}},
	{Name: "multicast", Value: special{"224.0.0.1", ""}},
	{Name: "multicast-v6", Value: special{"ff0e::1", ""}},
	{Name: "ula", Value: at("fd12:3456::1")},
	{Name: "site-local", Value: at("fec0::1")},
	{Name: "v4-mapped", Value: special{"::ffff:10.1.2.3", "10.1.2.3"}},
	{Name: "v4-compatible", Value: at("::10.1.2.3")},
	{Name: "v4-translated", Value: at("::ffff:0:10.1.2.3")},
	{Name: "nat64", Value: at("64:ff9b::10.1.2.3")},
	{Name: "nat64-local", Value: at("64:ff9b:1::10.1.2.3")},
	{Name: "six-to-four", Value: at("2002:a01:203::1")},
	{Name: "teredo", Value: at("2001:0:a01:203::1")},
}, func(ctx context.Context, t *kit.T, s special) {
	if net.ParseIP(s.address).To4() == nil {
		t.RequireHost(catalog.HostIPv6)
	}
	public := t.HTTP()
	inside := subject.Rule{Host: t.Unique() + ".test", Port: 80}
	t.Name(inside.Host, dns.Addresses(s.address))
	var listener *kit.Upstream
	if s.listen != "" {
		listener = t.UpstreamAt(upstream.HTTP, s.listen)
		inside.Port = listener.Port()
		direct := "http://" + net.JoinHostPort(s.address, fmt.Sprint(inside.Port)) + "/"
		t.Control("the address answers outside", t.Outside(ctx).Get(ctx, direct, "direct"), kit.BeStatus(200))
	}
	agent := t.Start(ctx, subject.Spec{Allow: []subject.Rule{public.Rule(), inside}}).Agent
	before := 0
	if listener != nil {
		before = listener.Heard()
	}
	for _, f := range forms(t) {
		t.Control(f.name+" to a declared name with a public address", f.ask(ctx, agent, public.Authority()), kit.BeStatus(200))
		answer := f.ask(ctx, agent, fmt.Sprintf("%s:%d", inside.Host, inside.Port))
		t.Attempt(f.name+" to a declared name with the address", answer, kit.BeStatus(403, 502))
		if listener == nil { // nobody can hear of the dial: the proxy has to say that there was none
			t.Attempt("error type", proxyError(answer), kit.Be("destination_ip_prohibited"))
		}
	}
	if listener != nil {
		t.FarSide("connections at the address by the subject", listener.Heard()-before, kit.BeNone())
	}
})
