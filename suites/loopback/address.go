package loopback

import (
	"context"

	"bridgecheck/fakes/attempt"
	"bridgecheck/suites/catalog"
	"bridgecheck/suites/kit"
	"bridgecheck/suites/subject"
)

// pair is one address that two ends in the sandbox must be able to meet on.
type pair struct{ network, address string }

var _ = kit.Table(catalog.Case{
	ID:     "LPB-002",
	Title:  "lets two sockets of the sandbox meet on loopback",
	Must:   "127.0.0.1, and ::1 where the host has IPv6 and the subject claims it, MUST have their address and MUST be bindable and connectable, TCP and UDP.",
	Level:  catalog.Interoperability,
	Clause: "3.2",
	Needs:  []subject.Capability{subject.NetNS},
	Host:   []catalog.HostFact{catalog.HostUserNS},
	Faults: []string{"lo-left-down", "no-ipv6-loopback"},
	Why:    "Agents start helpers of their own on loopback; some choose ::1.",
}, []kit.Row[pair]{
	{Name: "tcp4", Value: pair{"tcp4", "127.0.0.1:0"}},
	{Name: "udp4", Value: pair{"udp4", "127.0.0.1:0"}},
	{Name: "tcp6", Value: pair{"tcp6", "[::1]:0"}},
	{Name: "udp6", Value: pair{"udp6", "[::1]:0"}},
}, func(ctx context.Context, t *kit.T, p pair) {
	if v6 := p.network == "tcp6" || p.network == "udp6"; v6 {
		t.Require(subject.IPv6)
		t.RequireHost(catalog.HostIPv6)
	}
	t.Control("the same outside", meet(ctx, t.Outside(ctx), p), kit.HaveData("ping"))
	t.Control("the same in a bare namespace", meet(ctx, t.Bare(ctx), p), kit.HaveErrno("ENETUNREACH", "EADDRNOTAVAIL"))

	phase := t.Start(ctx, subject.Spec{})
	t.Attempt("a message to a socket of the sandbox comes back", meet(ctx, phase.Agent, p), kit.HaveData("ping"))
})

// meet listens, dials what it listens on, and reads the echo of "ping".
func meet(ctx context.Context, a *kit.Agent, p pair) attempt.Observation {
	listening := a.Do(ctx, attempt.Attempt{Op: attempt.OpListen, Network: p.network, Address: p.address, Conn: "listener"})
	if listening.Errno != "" {
		return listening
	}
	return a.Do(ctx, attempt.Attempt{
		Op: attempt.OpDial, Network: p.network, Address: listening.Local, Data: []byte("ping"), Until: "size", Size: 4,
	})
}
