package allowlist

import (
	"context"
	"fmt"

	"bridgecheck/fakes/upstream"
	"bridgecheck/suites/catalog"
	"bridgecheck/suites/kit"
	"bridgecheck/suites/subject"
)

// literal is a host as written, with the declared address that it is, or that a
// lenient parser takes it for.
type literal struct {
	declared, written string
	statuses          []int
}

// The lab's address and spellings of it: inet_aton(3) reads all of them.
const v4, v6 = publicAddress, "2001:db8::10"

var _ = kit.Table(catalog.Case{
	ID:     "ALW-010",
	Title:  "takes only strict forms for addresses",
	Must:   "Only the strict dotted quad and the forms of RFC 4291 MUST be taken for addresses; anything else is a name and needs a rule.",
	Level:  catalog.Security,
	Clause: "5.10",
	Needs:  []subject.Capability{subject.Connect},
	Faults: []string{"integer-is-an-address"},
	Why:    "0x7f000001 is loopback to some parsers and a harmless name to others: what one judges another dials.",
}, []kit.Row[literal]{
	{Name: "octal", Value: literal{v4, "0313.0.0161.012", []int{400, 403}}},
	{Name: "hex", Value: literal{v4, "0xcb00710a", []int{400, 403}}},
	{Name: "hex-dotted", Value: literal{v4, "0xcb.0x0.0x71.0xa", []int{400, 403}}},
	{Name: "decimal", Value: literal{v4, "3405803786", []int{400, 403}}},
	{Name: "short", Value: literal{v4, "203.28938", []int{400, 403}}},
	{Name: "leading-zeros", Value: literal{v4, "203.000.113.010", []int{400, 403}}},
	{Name: "trailing-dot", Value: literal{v4, v4 + ".", []int{400, 403}}},
	{Name: "v6-long", Value: literal{v6, "[2001:0db8:0:0:0:0:0:0010]", []int{200}}},
	{Name: "v6-upper", Value: literal{v6, "[2001:DB8::10]", []int{200}}},
	{Name: "v6-dotted", Value: literal{v6, "[2001:db8::0.0.0.16]", []int{200}}},
}, func(ctx context.Context, t *kit.T, l literal) {
	canonical := l.declared
	if l.declared == v6 {
		t.RequireHost(catalog.HostIPv6)
		canonical = "[" + v6 + "]"
	}
	u := t.UpstreamAt(upstream.HTTP, l.declared)
	agent := t.Start(ctx, subject.Spec{Allow: []subject.Rule{{Host: l.declared, Port: u.Port()}}}).Agent
	for _, f := range forms(t) {
		t.Control(f.name+" to the address", f.ask(ctx, agent, fmt.Sprintf("%s:%d", canonical, u.Port())), kit.BeStatus(200))
		heard := u.Heard()
		statuses := l.statuses
		if statuses[0] != 200 && f.name != connect.name {
			statuses = append([]int{502}, statuses...)
		}
		t.Attempt(f.name+" to "+l.written, f.ask(ctx, agent, fmt.Sprintf("%s:%d", l.written, u.Port())), kit.BeStatus(statuses...))
		if l.statuses[0] != 200 {
			t.FarSide("connections for the attempt", u.Heard()-heard, kit.BeNone())
		}
	}
})

var _ = kit.Table(catalog.Case{
	ID:     "ALW-011",
	Title:  "takes IPv6 in brackets alone, and nothing else there",
	Must:   "An IPv6 authority MUST stand in brackets; a zone, a name or IPv4 in brackets and a bare IPv6 address MUST be answered 400.",
	Level:  catalog.Security,
	Clause: "5.11",
	Needs:  []subject.Capability{subject.Connect},
	Host:   []catalog.HostFact{catalog.HostIPv6},
	Faults: []string{"brackets-removed", "zone-removed"},
	Why:    "[allowed.example] is that name to one parser and an error to another; a zone chooses the interface.",
}, []kit.Row[string]{
	{Name: "bare", Value: v6 + ":PORT"},
	{Name: "bare-without-port", Value: "::1"},
	{Name: "zone", Value: "[" + v6 + "%lo]:PORT"},
	{Name: "zone-encoded", Value: "[" + v6 + "%25lo]:PORT"},
	{Name: "name-in-brackets", Value: "[NAME]:PORT"},
	{Name: "v4-in-brackets", Value: "[" + v4 + "]:PORT"},
	{Name: "unclosed", Value: "[" + v6 + ":PORT"},
	{Name: "twice", Value: "[[" + v6 + "]]:PORT"},
	{Name: "after-bracket", Value: "[" + v6 + "]x:PORT"},
}, func(ctx context.Context, t *kit.T, pattern string) {
	u := t.UpstreamAt(upstream.HTTP, v6)
	four := t.UpstreamOn(upstream.HTTP, v4, u.Port())
	agent := t.Start(ctx, subject.Spec{Allow: []subject.Rule{u.Rule(), {Host: v6, Port: u.Port()}, {Host: v4, Port: u.Port()}}}).Agent
	authority := fill(pattern, u)
	for _, f := range forms(t) {
		t.Control(f.name+" to the address in brackets", f.ask(ctx, agent, fmt.Sprintf("[%s]:%d", v6, u.Port())), kit.BeStatus(200))
		heard, queries := u.Heard(), t.Queries(u.Name)
		t.Attempt(f.name+" to "+authority, f.ask(ctx, agent, authority), kit.BeStatus(400))
		t.FarSide("connections for the attempt", u.Heard()+four.Heard()-heard, kit.BeNone())
		t.FarSide("DNS queries for the attempt", t.Queries(u.Name)-queries, kit.BeNone())
	}
})
