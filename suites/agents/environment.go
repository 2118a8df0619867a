package agents

import (
	"context"
	"net/netip"
	"strings"

	"bridgecheck/fakes/attempt"
	"bridgecheck/suites/catalog"
	"bridgecheck/suites/kit"
	"bridgecheck/suites/subject"
)

// inherited is what the caller's own environment says; nothing of it may reach
// the agent.
var inherited = []string{
	"HTTP_PROXY=http://198.51.100.1:3128", "HTTPS_PROXY=http://198.51.100.1:3128", "ALL_PROXY=socks5://198.51.100.1:1080",
	"http_proxy=http://198.51.100.1:3128", "https_proxy=http://198.51.100.1:3128", "all_proxy=socks5://198.51.100.1:1080",
	"NO_PROXY=*", "no_proxy=*", "FTP_PROXY=http://198.51.100.1:3128", "ftp_proxy=http://198.51.100.1:3128",
	"npm_config_proxy=http://198.51.100.1:3128", "npm_config_noproxy=*",
}

var _ = kit.Check(catalog.Case{
	ID:     "AGT-002",
	Title:  "tells clients of its proxy, in every spelling, and of no other",
	Must:   "The proxy variables MUST be set in upper and lower case; NO_PROXY MUST cover the sandbox's own loopback and nothing else; inherited ones MUST NOT survive.",
	Level:  catalog.Interoperability,
	Clause: "10.2",
	Needs:  []subject.Capability{subject.Connect},
	Host:   []catalog.HostFact{catalog.HostUserNS},
	Faults: []string{"lower-case-proxy-missing", "no-proxy-inherited", "no-proxy-covers-more", "arapuca-drops-variables"},
	Why:    "curl reads http_proxy in lower case alone; a NO_PROXY of the caller's sends clients past the proxy, into nothing.",
}, func(ctx context.Context, t *kit.T) {
	allowed, blocked := t.HTTP(), t.HTTP()
	agent := t.Start(ctx, subject.Spec{Allow: []subject.Rule{allowed.Rule()}}, kit.WithEnv(inherited...)).Agent
	ask := func(u *kit.Upstream) attempt.Observation {
		if t.Subject().Claims(subject.AbsoluteForm) {
			return agent.Get(ctx, u.URL(), "environment")
		}
		return agent.Connect(ctx, u.Authority()) // as it would for https
	}
	t.Control("a client that does as the environment says", ask(allowed), kit.BeStatus(200))

	proxy := "http://" + agent.Proxy(ctx)
	for _, name := range []string{"HTTP_PROXY", "HTTPS_PROXY", "http_proxy", "https_proxy"} {
		t.Attempt(name, strings.TrimSuffix(agent.Env(ctx, name), "/"), kit.Be(proxy))
	}
	for _, name := range []string{"NO_PROXY", "no_proxy"} {
		value := agent.Env(ctx, name)
		t.Attempt("what "+name+" covers besides loopback", beyond(value), kit.BeNone())
		t.Attempt(name, split(value), kit.Contain("127.0.0.1"))
		t.Attempt(name, split(value), kit.Contain("localhost"))
	}
	t.Attempt("variables of the caller's that are left", left(agent.Facts(ctx).Env), kit.BeNone())
	t.Attempt("the same client at a host that is not declared", ask(blocked), kit.BeRefusal())
	t.FarSide("connections at that host", blocked.Heard(), kit.BeNone())
})

func split(list string) []string {
	return strings.FieldsFunc(list, func(r rune) bool { return r == ',' || r == ' ' })
}

// beyond are the entries of a NO_PROXY list that are not loopback.
func beyond(list string) []string {
	more := []string{}
	for _, entry := range split(list) {
		prefix, err := netip.ParsePrefix(entry)
		if err != nil {
			var address netip.Addr
			if address, err = netip.ParseAddr(strings.Trim(entry, "[]")); err == nil {
				prefix = netip.PrefixFrom(address, address.BitLen())
			}
		}
		loopback := err == nil && prefix.Addr().IsLoopback() && (prefix.Addr().Is6() && prefix.Bits() == 128 || prefix.Addr().Is4() && prefix.Bits() >= 8)
		if !loopback && strings.TrimPrefix(entry, ".") != "localhost" {
			more = append(more, entry)
		}
	}
	return more
}

func left(env []string) []string {
	found := []string{}
	for _, kv := range env {
		for _, old := range inherited {
			if kv == old {
				found = append(found, kv)
			}
		}
	}
	return found
}
