package relay

import (
	"context"
	"net"

	"bridgecheck/fakes/attempt"
	"bridgecheck/suites/catalog"
	"bridgecheck/suites/kit"
	"bridgecheck/suites/subject"
)

// family is an address family of the proxy's port.
type family struct {
	host string
	knob string
	v6   bool // of the ready event
}

var _ = kit.Table(catalog.Case{
	ID:     "RLY-001",
	Title:  "answers on the proxy's address at the agent's first instruction",
	Must:   "The proxy address that the environment names MUST accept at the agent's first instruction, on 127.0.0.1 and, where there is IPv6, on ::1.",
	Level:  catalog.Interoperability,
	Clause: "4.1",
	Needs:  []subject.Capability{subject.NetNS, subject.Connect, subject.Events},
	Host:   []catalog.HostFact{catalog.HostUserNS},
	Faults: []string{"no-ipv6-listener", "lo-left-down"},
	Why:    "An agent that asks its model in its first millisecond and is refused gives up, or works without its servers.",
}, []kit.Row[family]{
	{Name: "ipv4", Value: family{host: "127.0.0.1", v6: true}},
	{Name: "ipv6", Value: family{host: "::1", v6: true}},
	{Name: "no-ipv6", Value: family{host: "127.0.0.1", knob: "no-ipv6"}},
}, func(ctx context.Context, t *kit.T, f family) {
	if f.host == "::1" {
		t.Require(subject.IPv6)
		t.RequireHost(catalog.HostIPv6)
	}
	host := t.HTTP()
	// The first phase tells where the proxy is; the second is asked there before
	// anything else.
	spec := subject.Spec{Allow: []subject.Rule{host.Rule()}}
	first := t.Start(ctx, spec)
	_, port, err := net.SplitHostPort(first.Agent.Proxy(ctx))
	t.Control("the environment names the proxy's host and port", err, kit.Be(error(nil)))
	first.Finish(ctx)
	ask := attempt.Attempt{
		Op: attempt.OpDial, Network: "tcp", Address: net.JoinHostPort(f.host, port), Until: "line",
		Data: []byte("CONNECT " + host.Authority() + " HTTP/1.1\r\nHost: " + host.Authority() + "\r\n\r\n"),
	}
	t.Control("nothing answers there outside", t.Outside(ctx).Do(ctx, ask), kit.HaveErrno("ECONNREFUSED"))

	var options []kit.Option
	if f.knob != "" {
		options = append(options, kit.WithKnob(f.knob))
	}
	phase := t.Start(ctx, spec, options...)
	answer := phase.Agent.Do(ctx, ask)
	if _, now, err := net.SplitHostPort(phase.Agent.Proxy(ctx)); err == nil && now != port {
		ask.Address = net.JoinHostPort(f.host, now) // each phase has a port of its own
		answer = phase.Agent.Do(ctx, ask)
	}
	t.Attempt("the answer to the agent's first instruction", answer, kit.Succeed())
	t.Attempt("it is that of the proxy", string(answer.Data), kit.Contain(" 200 "))
	ready := phase.Ready(ctx)
	t.Attempt("the ready event tells of 127.0.0.1", ready.V4, kit.Be(true))
	if f.host == "::1" || f.knob != "" {
		t.Attempt("the ready event tells of ::1", ready.V6, kit.Be(f.v6))
	}
	t.FarSide("connections at the host", host.Heard(), kit.Be(1))
})
