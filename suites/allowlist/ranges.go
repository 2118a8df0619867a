package allowlist

import (
	"context"
	"fmt"

	"bridgecheck/fakes/dns"
	"bridgecheck/fakes/upstream"
	"bridgecheck/suites/catalog"
	"bridgecheck/suites/kit"
	"bridgecheck/suites/subject"
)

// opening is an address, the range that a rule opens, and who asks for it.
type opening struct {
	address, opened string
	// other and otherPort ask by a name, or on a port, whose rule opens nothing.
	other, otherPort bool
	// passes tells whether the address may be dialled.
	passes bool
}

var _ = kit.Table(catalog.Case{
	ID:     "ALW-028",
	Title:  "opens the ranges of a rule for its host and port alone",
	Must:   "Address ranges that a rule names MUST open for its host and port alone; loopback and metadata addresses only when they are named exactly.",
	Level:  catalog.Security,
	Clause: "5.28",
	Needs:  []subject.Capability{subject.Connect, subject.RuleAddresses},
	Faults: []string{"ranges-open-for-all", "loopback-opened-by-range", "metadata-opened-by-range", "ranges-ignored"},
	Why:    "A service of the local network is wanted; the network is not.",
}, []kit.Row[opening]{
	{Name: "opened", Value: opening{address: "10.20.0.5", opened: "10.20.0.0/16", passes: true}},
	{Name: "opened-v6", Value: opening{address: "fd12:3456::5", opened: "fd12:3456::/32", passes: true}},
	{Name: "other-host", Value: opening{address: "10.20.0.5", opened: "10.20.0.0/16", other: true}},
	{Name: "other-port", Value: opening{address: "10.20.0.5", opened: "10.20.0.0/16", otherPort: true}},
	{Name: "outside", Value: opening{address: "10.21.0.5", opened: "10.20.0.0/16"}},
	{Name: "embedded", Value: opening{address: "64:ff9b::10.20.0.5", opened: "10.20.0.0/16"}},
	{Name: "loopback-exact", Value: opening{address: "127.0.0.1", opened: "127.0.0.1/32", passes: true}},
	{Name: "loopback-range", Value: opening{address: "127.0.0.1", opened: "127.0.0.0/8"}},
	{Name: "metadata-exact", Value: opening{address: "169.254.169.254", opened: "169.254.169.254/32", passes: true}},
	{Name: "metadata-range", Value: opening{address: "169.254.169.254", opened: "169.254.0.0/16"}},
	{Name: "metadata-in-shared", Value: opening{address: "100.100.100.200", opened: "100.64.0.0/10"}},
	{Name: "metadata-in-protocol", Value: opening{address: "192.0.0.192", opened: "192.0.0.0/24"}},
}, func(ctx context.Context, t *kit.T, o opening) {
	if t.Row() == "opened-v6" || t.Row() == "embedded" {
		t.RequireHost(catalog.HostIPv6)
	}
	public := t.HTTP()
	inside := t.UpstreamAt(upstream.HTTP, o.address)
	t.Control("the address answers outside", t.Outside(ctx).Get(ctx, "http://"+inside.Addr().String()+"/", "direct"), kit.BeStatus(200))
	before := inside.Heard()

	rule := inside.Rule()
	rule.Addresses = []string{o.opened}
	asked := inside.Rule()
	switch {
	case o.other:
		asked.Host = t.Unique() + ".test"
		t.Name(asked.Host, dns.Addresses(o.address))
	case o.otherPort:
		rule.Port = public.Port()
	}
	spec := subject.Spec{Allow: []subject.Rule{public.Rule(), rule}}
	if o.other || o.otherPort {
		spec.Allow = append(spec.Allow, asked)
	}
	phase := t.Start(ctx, spec)
	if o.opened == "127.0.0.0/8" && phase.Fate(ctx) == "exit code 125" {
		t.Attempt("what the refused start says", told(phase), kit.Contain("allow"))
		t.FarSide("connections at the address", inside.Heard()-before, kit.BeNone())
		return
	}
	for _, f := range forms(t) {
		t.Control(f.name+" to a public host of the list", f.ask(ctx, phase.Agent, public.Authority()), kit.BeStatus(200))
		answer := f.ask(ctx, phase.Agent, fmt.Sprintf("%s:%d", asked.Host, asked.Port))
		if o.passes {
			t.Attempt(f.name+" to the host of the rule", answer, kit.BeStatus(200))
			continue
		}
		t.Attempt(f.name+" beyond what the rule opens", answer, kit.BeStatus(403, 502))
		t.FarSide("connections at the address by the subject", inside.Heard()-before, kit.BeNone())
	}
})
