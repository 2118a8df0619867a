package arapuca

import (
	"context"
	"strings"

	"bridgecheck/fakes/attempt"
	"bridgecheck/fakes/upstream"
	"bridgecheck/suites/catalog"
	"bridgecheck/suites/kit"
)

// asked is what came of a rule: whether Launch refused it, or else what the proxy
// made of a request that the rule means.
func asked(ctx context.Context, t *kit.T, r rule, u *kit.Upstream, authority string) string {
	p := t.Companion(ctx, whole(open(t, r)))
	f := launched(ctx, t, p)
	if f.Error != "" {
		if p.Finish(ctx) != (kit.Exit{}) {
			return f.Error
		}
		if !strings.Contains(f.Error, r.Host) {
			return "refused by Launch, without a word of " + r.Host
		}
		return refusedAtLoad
	}
	before := u.Heard()
	got := p.Agent.Connect(ctx, authority)
	p.Finish(ctx)
	switch {
	case got.Status == 200 && u.Heard() > before:
		return "reached"
	case got.Status != 0:
		return "refused when asked, with status " + decimal(got.Status)
	}
	return "refused when asked, by " + got.Errno
}

const refusedAtLoad = "refused by Launch"

var _ = kit.Table(catalog.Case{
	ID:     "ARA-005",
	Title:  "reaches a declared host of the loopback, or refuses it at load",
	Must:   "An allowed host that is the host's loopback MUST be reachable, or refused by Launch with a reason that names it.",
	Level:  catalog.Interoperability,
	Clause: "13.5",
	Host:   []catalog.HostFact{catalog.HostUserNS},
	Faults: []string{"arapuca-refuses-loopback"},
	Why:    "MCP servers that people run themselves are on the host's loopback. Read in the sources: every such address is answered with 403, although it was declared.",
}, []kit.Row[string]{
	{Name: "address", Value: "127.0.0.1"},
	{Name: "localhost", Value: "localhost"},
}, func(ctx context.Context, t *kit.T, host string) {
	public, local := t.Echo(), t.UpstreamAt(upstream.RawEcho, "127.0.0.1")
	t.Control("a declared host elsewhere", asked(ctx, t, ruleOf(public), public, public.Authority()), kit.Be("reached"))
	r := rule{host, local.Port()}
	t.Attempt("the declared "+host, asked(ctx, t, r, local, host+":"+decimal(r.Port)), kit.BeOneOf("reached", refusedAtLoad))
})

var _ = kit.Table(catalog.Case{
	ID:     "ARA-006",
	Title:  "normalises rules, or refuses them at load",
	Must:   "A rule in another spelling MUST mean what the canonical one means, or be refused by Launch; it MUST NOT be taken and then never match.",
	Level:  catalog.Interoperability,
	Clause: "13.6",
	Host:   []catalog.HostFact{catalog.HostUserNS},
	Faults: []string{"arapuca-rules-raw"},
	Why:    "Read in the sources: the command line normalises, the library compares byte by byte, and answers 403 for ever.",
}, []kit.Row[func(string) string]{
	{Name: "upper-case", Value: strings.ToUpper},
	{Name: "trailing-dot", Value: func(host string) string { return host + "." }},
	{Name: "wildcard", Value: func(host string) string { _, parent, _ := strings.Cut(host, "."); return "*." + parent }},
}, func(ctx context.Context, t *kit.T, spell func(string) string) {
	u := t.Echo()
	t.Control("the rule as it should be", asked(ctx, t, ruleOf(u), u, u.Authority()), kit.Be("reached"))
	r := rule{spell(u.Name), u.Port()}
	t.Attempt("the rule "+r.Host, asked(ctx, t, r, u, u.Authority()), kit.BeOneOf("reached", refusedAtLoad))
})

var _ = kit.Check(catalog.Case{
	ID:     "ARA-007",
	Title:  "ignores neither of two proxies in silence",
	Must:   "AllowedHosts together with NetworkProxySocket MUST both be honoured, or be refused by Launch.",
	Level:  catalog.Interoperability,
	Clause: "13.7",
	Host:   []catalog.HostFact{catalog.HostUserNS},
	Faults: []string{"arapuca-ignores-socket"},
	Why:    "Read in the sources: with AllowedHosts the caller's socket is dropped without a word, for the relay and for AGENT_NETWORK_PROXY.",
}, func(ctx context.Context, t *kit.T) {
	u, path := t.Echo(), t.Dir("far")+"/proxy"
	far := t.SocketUpstream(upstream.RawEcho, path)
	l := probe(t, launch{Seccomp: "baseline", NetNS: true, ProxySocket: path})
	alone := t.Companion(ctx, whole(l))
	t.Control("Launch with the socket alone", launched(ctx, t, alone).Error, kit.Be(""))
	hello := attempt.Attempt{Op: attempt.OpDial, Network: "tcp4", Address: relayPort, Data: []byte("hello\n"), Until: "line"}
	t.Control("the port leads to it", alone.Agent.Do(ctx, hello), kit.HaveData("hello\n"))
	alone.Finish(ctx)
	t.Control("connections at the socket", far.Fence(), kit.Be(1))

	l.AllowedHosts = []rule{ruleOf(u)}
	both := t.Companion(ctx, whole(l))
	ignored := []string{}
	if launched(ctx, t, both).Error == "" {
		if both.Agent.Connect(ctx, u.Authority()).Status != 200 {
			ignored = append(ignored, "AllowedHosts")
		}
		if far.Fence() == 1 && both.Agent.Env(ctx, "AGENT_NETWORK_PROXY") != path {
			ignored = append(ignored, "NetworkProxySocket")
		}
	}
	t.Attempt("the calling program", both.Finish(ctx), kit.Be(kit.Exit{}))
	t.Attempt("what Launch took and ignores", ignored, kit.BeNone())
})

// relayPort is where arapuca's relay listens in the sandbox.
const relayPort = "127.0.0.1:18080"
