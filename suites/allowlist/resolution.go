package allowlist

import (
	"context"
	"fmt"

	"bridgecheck/fakes/attempt"
	"bridgecheck/fakes/dns"
	"bridgecheck/fakes/upstream"
	"bridgecheck/suites/catalog"
	"bridgecheck/suites/kit"
	"bridgecheck/suites/subject"
)

// publicAddress is where kit's upstreams listen, private an address that no
// public name may lead to, dead a public one that nobody listens on.
const (
	publicAddress = "203.0.113.10"
	private       = "10.1.2.3"
	dead          = "198.51.100.99"
)

var _ = kit.Check(catalog.Case{
	ID:     "ALW-013",
	Title:  "dials the address that it checked",
	Must:   "The address that was checked MUST be the one that is dialled: a name that answers public first and private afterwards never brings a connection to the private listener.",
	Level:  catalog.Security,
	Clause: "5.13",
	Needs:  []subject.Capability{subject.Connect},
	Faults: []string{"second-lookup"},
	Why:    "DNS rebinding: between the check and the dial the owner of the name changes the answer.",
}, func(ctx context.Context, t *kit.T) {
	public := t.HTTP()
	inside := t.UpstreamOn(upstream.HTTP, private, public.Port()) // the same port: only the address differs
	t.Control("the private address answers outside", t.Outside(ctx).Get(ctx, "http://"+inside.Addr().String()+"/", "direct"), kit.BeStatus(200))
	before := inside.Heard()

	for _, f := range forms(t) {
		t.Name(public.Name, dns.Addresses(publicAddress))
		agent := t.Start(ctx, subject.Spec{Allow: []subject.Rule{public.Rule()}}).Agent
		t.Control(f.name+" to the name while its answer stays", f.ask(ctx, agent, public.Authority()), kit.BeStatus(200))

		t.Name(public.Name, dns.Addresses(publicAddress), dns.Addresses(private))
		// Public, or refused by whoever looked twice and checked twice.
		t.Attempt(f.name+" to the name as its answer changes", f.ask(ctx, agent, public.Authority()), kit.BeStatus(200, 403, 502))
		t.Attempt(f.name+" to the name when it has changed", f.ask(ctx, agent, public.Authority()), kit.BeStatus(200, 403, 502))
		t.FarSide("connections at the private address by the subject", inside.Heard()-before, kit.BeNone())
	}
})

var _ = kit.Table(catalog.Case{
	ID:     "ALW-014",
	Title:  "drops unsafe addresses and tries the safe ones in turn",
	Must:   "Of several addresses the unsafe ones MUST be dropped and the safe ones tried in turn until one answers.",
	Level:  catalog.Interoperability,
	Clause: "5.14",
	Needs:  []subject.Capability{subject.Connect},
	Faults: []string{"first-address-only"},
}, []kit.Row[string]{
	{Name: "unsafe-first", Value: private},
	{Name: "dead-first", Value: dead},
}, func(ctx context.Context, t *kit.T, first string) {
	live := t.HTTP()
	inside := t.UpstreamOn(upstream.HTTP, private, live.Port())
	only, both := subject.Rule{Host: t.Unique() + ".test", Port: live.Port()}, subject.Rule{Host: t.Unique() + ".test", Port: live.Port()}
	t.Name(only.Host, dns.Addresses(first))
	t.Name(both.Host, dns.Addresses(first, live.Addr().Addr().String()))
	agent := t.Start(ctx, subject.Spec{Allow: []subject.Rule{only, both}}).Agent
	for _, f := range forms(t) {
		t.Control(f.name+" to a name with the first address alone", ask(ctx, f, agent, only), kit.BeStatus(403, 502, 504))
		t.Attempt(f.name+" to a name with both addresses", ask(ctx, f, agent, both), kit.BeStatus(200))
	}
	t.FarSide("connections at the unsafe address", inside.Heard(), kit.BeNone())
})

// ask asks for what a rule allows.
func ask(ctx context.Context, f form, a *kit.Agent, r subject.Rule) attempt.Observation {
	return f.ask(ctx, a, fmt.Sprintf("%s:%d", r.Host, r.Port))
}
