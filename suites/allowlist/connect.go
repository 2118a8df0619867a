package allowlist

import (
	"context"

	"bridgecheck/fakes/attempt"
	"bridgecheck/suites/catalog"
	"bridgecheck/suites/kit"
	"bridgecheck/suites/subject"
)

var _ = kit.Check(catalog.Case{
	ID:     "ALW-001",
	Title:  "tunnels CONNECT to a declared host and port",
	Must:   "CONNECT to a declared host:port MUST answer 200 and tunnel.",
	Level:  catalog.Interoperability,
	Clause: "5.1",
	Needs:  []subject.Capability{subject.Connect},
	Faults: []string{"deny-all"},
}, func(ctx context.Context, t *kit.T) {
	echo := t.Echo()
	t.Control("the host echoes outside", echoed(ctx, t.Outside(ctx), echo), kit.HaveData("ping"))

	agent := t.Start(ctx, subject.Spec{Allow: []subject.Rule{echo.Rule()}}).Agent
	t.Attempt("CONNECT to it", agent.Connect(ctx, echo.Authority()), kit.BeStatus(200))
	agent.Send(ctx, "tunnel", []byte("through the tunnel\n"))
	t.Attempt("what comes back", agent.Receive(ctx, "tunnel", "line"), kit.HaveData("through the tunnel\n"))

	// RFC 9110 section 7.2 wants the port there too; clients leave it out.
	portless := "CONNECT " + echo.Authority() + " HTTP/1.1\r\nHost: " + echo.Name + "\r\n\r\n"
	t.Attempt("CONNECT with a Host without the port", agent.Raw(ctx, "portless", []byte(portless)), kit.BeStatus(200))
	t.FarSide("connections at the host, with that of the control", echo.Heard(), kit.Be(3))
})

// echoed dials an echo server by address and reads back what it sent.
func echoed(ctx context.Context, a *kit.Agent, u *kit.Upstream) attempt.Observation {
	return a.Do(ctx, attempt.Attempt{
		Op: attempt.OpDial, Network: "tcp", Address: u.Addr().String(), Data: []byte("ping"), Until: "size", Size: 4,
	})
}

var _ = kit.Check(catalog.Case{
	ID:     "ALW-002",
	Title:  "refuses CONNECT to a host that is not declared",
	Must:   "CONNECT to an undeclared host MUST be refused with 403; no connection and no DNS query MUST be made.",
	Level:  catalog.Security,
	Clause: "5.2",
	Needs:  []subject.Capability{subject.Connect},
	Faults: []string{"open-proxy", "dial-first", "resolve-first"},
	Why:    "A proxy that resolves or dials before it decides carries data out in the name it asks for.",
}, func(ctx context.Context, t *kit.T) {
	allowed, blocked := t.Echo(), t.Echo()
	agent := t.Start(ctx, subject.Spec{Allow: []subject.Rule{allowed.Rule()}}).Agent
	t.Control("CONNECT to the declared host", agent.Connect(ctx, allowed.Authority()), kit.BeStatus(200))
	t.Control("DNS queries for the declared host", t.Queries(allowed.Name), kit.Differ(0))

	t.Attempt("CONNECT to the other", agent.Connect(ctx, blocked.Authority()), kit.BeStatus(403))
	t.FarSide("connections at the other", blocked.Heard(), kit.BeNone())
	t.FarSide("DNS queries for the other", t.Queries(blocked.Name), kit.BeNone())
})
