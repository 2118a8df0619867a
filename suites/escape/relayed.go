package escape

import (
	"context"
	"net"

	"bridgecheck/fakes/attempt"
	"bridgecheck/suites/catalog"
	"bridgecheck/suites/kit"
	"bridgecheck/suites/subject"
)

// between is where a relay listens in the sandbox and at which loopback address
// it asks the proxy.
type between struct{ network, listen, host string }

var _ = kit.Table(catalog.Case{
	ID:     "ESC-013",
	Title:  "judges the same request the same, whoever asks",
	Must:   "Who asks MUST NOT matter: the same request through a relay that the agent started in the sandbox MUST get the same decision.",
	Level:  catalog.Security,
	Clause: "11.13",
	Needs:  []subject.Capability{subject.NetNS, subject.Connect},
	Host:   []catalog.HostFact{catalog.HostUserNS},
	Faults: []string{"peer-trusted"},
	Why:    "A proxy that trusts a peer, by its address or its process, trusts whoever can stand between.",
}, []kit.Row[between]{
	{Name: "tcp", Value: between{"tcp4", "127.0.0.1:0", "127.0.0.1"}},
	{Name: "ipv6", Value: between{"tcp6", "[::1]:0", "::1"}},
	{Name: "unix", Value: between{"unix", "@relay", "127.0.0.1"}},
}, func(ctx context.Context, t *kit.T, b between) {
	if b.host == "::1" {
		t.Require(subject.IPv6)
		t.RequireHost(catalog.HostIPv6)
	}
	allowed, blocked := t.Echo(), t.Echo()
	agent := t.Start(ctx, subject.Spec{Allow: []subject.Rule{allowed.Rule()}}).Agent
	_, port, err := net.SplitHostPort(agent.Proxy(ctx))
	if err != nil {
		t.Fatal("address of the proxy: %v", err)
	}
	relay := agent.Do(ctx, attempt.Attempt{
		Op: attempt.OpListen, Network: b.network, Address: b.listen, Conn: "relay",
		Args: []string{"forward", net.JoinHostPort(b.host, port)},
	})
	t.Control("the agent's relay listens", relay, kit.Succeed())
	through := func(u *kit.Upstream) attempt.Observation {
		head := "CONNECT " + u.Authority() + " HTTP/1.1\r\nHost: " + u.Authority() + "\r\n\r\n"
		return agent.RawAt(ctx, b.network, relay.Local, "through", []byte(head))
	}
	t.Control("CONNECT to the declared host through the relay", through(allowed), kit.BeStatus(200))

	t.Attempt("CONNECT to the other, directly", agent.Connect(ctx, blocked.Authority()), kit.BeStatus(403))
	t.Attempt("CONNECT to the other through the relay", through(blocked), kit.BeStatus(403))
	t.FarSide("connections at the other", blocked.Heard(), kit.BeNone())
	t.FarSide("DNS queries for the other", t.Queries(blocked.Name), kit.BeNone())
})
