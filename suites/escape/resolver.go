package escape

import (
	"context"

	"bridgecheck/fakes/attempt"
	"bridgecheck/fakes/dns"
	"bridgecheck/suites/catalog"
	"bridgecheck/suites/kit"
	"bridgecheck/suites/subject"
)

// publicResolver is a name server of the lab on an address that stands for a
// public one; the lab's own answers on loopback.
const publicResolver = "203.0.113.53:53"

// lookup is a question to a server, or to the system's resolver without one.
type lookup struct {
	network, server string
	errnos          []string
}

var _ = kit.Table(catalog.Case{
	ID:     "ESC-008",
	Title:  "resolves no name in the sandbox",
	Must:   "No name MUST resolve by UDP or TCP port 53 in the sandbox; names MUST be resolved only by the proxy, after the decision.",
	Level:  catalog.Security,
	Clause: "11.8",
	Needs:  []subject.Capability{subject.NetNS, subject.Connect},
	Host:   []catalog.HostFact{catalog.HostUserNS},
	Faults: []string{"resolver-reachable", "host-netns-shared"},
	Why:    "A name that is asked for carries data out, whether it resolves or not.",
}, []kit.Row[lookup]{
	{Name: "udp-loopback", Value: lookup{"udp", "127.0.0.1:53", []string{"ECONNREFUSED", "EACCES", "EPERM"}}},
	{Name: "tcp-loopback", Value: lookup{"tcp", "127.0.0.1:53", []string{"ECONNREFUSED", "EACCES", "EPERM"}}},
	{Name: "udp-public", Value: lookup{"udp", publicResolver, unreachable}},
	{Name: "tcp-public", Value: lookup{"tcp", publicResolver, unreachable}},
	// What a resolver without a server says: the errno of its socket, or "no such
	// host" in words.
	{Name: "system", Value: lookup{"", "", []string{"ECONNREFUSED", "ENETUNREACH", "EACCES", "EPERM", "other"}}},
}, func(ctx context.Context, t *kit.T, l lookup) {
	resolver, err := dns.Start(publicResolver)
	if err != nil {
		t.Fatal("start a name server: %v", err)
	}
	defer resolver.Close()
	declared, secret := t.Echo(), "secret-data."+t.Unique()+".test"
	t.Name(secret, dns.Addresses("203.0.113.10"))
	resolver.Set(secret, dns.Addresses("203.0.113.10"))
	question := attempt.Attempt{Op: attempt.OpResolve, Network: l.network, Path: l.server, Address: secret}
	asked := func() int { return t.Queries(secret) + resolver.Queries(secret) }

	t.Control("the same outside", t.Outside(ctx).Do(ctx, question), kit.Succeed())
	t.Control("questions for the name", asked(), kit.Differ(0))
	before := asked()
	agent := t.Start(ctx, subject.Spec{Allow: []subject.Rule{declared.Rule()}}).Agent
	t.Control("CONNECT to the declared name", agent.Connect(ctx, declared.Authority()), kit.BeStatus(200))
	t.Control("questions for the declared name", t.Queries(declared.Name), kit.Differ(0))

	t.Attempt("a question for a name", agent.Do(ctx, question), kit.HaveErrno(l.errnos...))
	t.Attempt("CONNECT to the name", agent.Connect(ctx, secret+":443"), kit.BeStatus(403))
	t.FarSide("questions for the name by the subject", asked()-before, kit.BeNone())
})
