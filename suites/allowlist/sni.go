package allowlist

import (
	"context"
	"fmt"

	"bridgecheck/fakes/attempt"
	"bridgecheck/fakes/upstream"
	"bridgecheck/suites/catalog"
	"bridgecheck/suites/kit"
	"bridgecheck/suites/subject"
)

var _ = kit.Table(catalog.Case{
	ID:     "ALW-027",
	Title:  "cuts a tunnel whose TLS names another host",
	Must:   "Where SNI checking is claimed and on, a ClientHello whose SNI differs from the CONNECT host MUST be cut and reported.",
	Level:  catalog.Security,
	Clause: "5.27",
	Needs:  []subject.Capability{subject.Connect, subject.SNI},
	Faults: []string{"sni-unchecked"},
	Why:    "Domain fronting: the tunnel leads to the shared front of many hosts, and TLS names one that is not declared.",
}, []kit.Row[int]{ // how many bytes of the ClientHello go into the first write
	{Name: "whole", Value: 1 << 14},
	{Name: "one-byte-first", Value: 1},
	{Name: "split-in-name", Value: 200},
}, func(ctx context.Context, t *kit.T, first int) {
	front := t.Upstream(upstream.TLS)
	phase := t.Start(ctx, subject.Spec{Allow: []subject.Rule{front.Rule()}, Proxy: &subject.Proxy{SNICheck: true}})
	agent := phase.Agent
	url := fmt.Sprintf("https://%s/", front.Authority())
	t.Control("TLS that names the CONNECT host", agent.Do(ctx, attempt.Attempt{Op: attempt.OpHTTP, URL: url, Via: "connect"}), kit.BeStatus(200))
	before := front.Bytes()

	hello := clientHello(t, "behind-the-front.test")
	first = min(first, len(hello))
	t.Attempt("the tunnel is opened", agent.Connect(ctx, front.Authority()), kit.BeStatus(200))
	agent.Send(ctx, "tunnel", hello[:first])
	if first < len(hello) {
		agent.Send(ctx, "tunnel", hello[first:])
	}
	answer := agent.Do(ctx, attempt.Attempt{Op: attempt.OpReceive, Conn: "tunnel", Until: "eof", TimeoutMS: 3000})
	t.Attempt("the tunnel ends", answer.Errno, kit.BeOneOf("", "ECONNRESET"))
	t.FarSide("bytes at the front for the attempt", int(front.Bytes()-before), kit.BeNone())
	if t.Subject().Claims(subject.Events) {
		cut := phase.AwaitEvent(ctx, subject.EventDecision, func(e subject.Event) bool { return e.Verdict == "deny" })
		t.Attempt("target of the event that reports it", cut.Target, kit.Be(front.Authority()))
		t.Attempt("reason", cut.Reason, kit.Differ(""))
	}
})
