package allowlist

import (
	"context"
	"strings"

	"bridgecheck/fakes/attempt"
	"bridgecheck/suites/catalog"
	"bridgecheck/suites/kit"
	"bridgecheck/suites/subject"
)

// The limits of the phases here: small, so that reaching them is quick; the time
// is many times what a busy host takes between two bytes.
const (
	headBytes = 8 << 10
	headMS    = 1000
)

var _ = kit.Table(catalog.Case{
	ID:     "ALW-020",
	Title:  "bounds a request head in size, count and time",
	Must:   "The size of a request head, the number of its fields and the time for the whole of it MUST be bounded: dripping bytes MUST NOT hold a slot.",
	Level:  catalog.Security,
	Clause: "5.20",
	Needs:  []subject.Capability{subject.Connect},
	Faults: []string{"head-size-unbounded", "field-count-unbounded", "deadline-per-read"},
	Why:    "Sixty connections that send a byte a minute have locked an agent out of its own proxy.",
}, []kit.Row[func(ctx context.Context, t *kit.T, agent *kit.Agent, u *kit.Upstream)]{
	{Name: "request-line", Value: tooLarge("CONNECT ", "a", headBytes*4)},
	{Name: "field", Value: tooLarge("CONNECT NAME:PORT HTTP/1.1\r\nHost: NAME:PORT\r\nX-A: ", "a", headBytes*4)},
	{Name: "fields", Value: tooLarge("CONNECT NAME:PORT HTTP/1.1\r\nHost: NAME:PORT\r\n", "X-A: 12345678\r\n", headBytes/2)},
	// Within the size: it is the number that is too large.
	{Name: "field-count", Value: tooLarge("CONNECT NAME:PORT HTTP/1.1\r\nHost: NAME:PORT\r\n", "a:\r\n", headBytes/4-64)},
	{Name: "drip", Value: drip("CONNECT NAME:PORT HTTP/1.1\r\nHost: NAME:PORT\r\nX-A: ")},
	{Name: "drip-before-line-end", Value: drip("CONN")},
}, func(ctx context.Context, t *kit.T, run func(ctx context.Context, t *kit.T, agent *kit.Agent, u *kit.Upstream)) {
	u := t.Echo()
	agent := limited(ctx, t, u)
	heard := u.Heard()
	run(ctx, t, agent, u)
	t.FarSide("connections for the attempt", u.Heard()-heard, kit.BeNone())
	t.Attempt("CONNECT afterwards", agent.Connect(ctx, u.Authority()), kit.BeStatus(200))
})

// limited starts an agent behind a proxy with the limits.
func limited(ctx context.Context, t *kit.T, u *kit.Upstream) *kit.Agent {
	phase := t.Start(ctx, subject.Spec{
		Allow: []subject.Rule{u.Rule()}, Limits: &subject.Limits{HeadBytes: headBytes, HeadMS: headMS},
	})
	phase.Honoured(ctx, "limits.head_bytes", "limits.head_ms")
	t.Control("CONNECT within the limits", phase.Agent.Connect(ctx, u.Authority()), kit.BeStatus(200))
	return phase.Agent
}

// tooLarge sends a head that does not end.
func tooLarge(start, more string, count int) func(context.Context, *kit.T, *kit.Agent, *kit.Upstream) {
	return func(ctx context.Context, t *kit.T, agent *kit.Agent, u *kit.Upstream) {
		data := []byte(fill(start, u) + strings.Repeat(more, count))
		if t.Row() == "field-count" {
			data = append(data, "\r\n"...) // whole: only its size or its number can be refused
		}
		t.Attempt("a head that is too large", agent.Raw(ctx, "large", data), kit.BeStatus(400, 413, 414, 431))
	}
}

// dripRounds times dripMS is many times headMS, and far from the probe's patience.
const (
	dripRounds = 100
	dripMS     = 50
)

// drip sends a byte, waits a moment for an answer, and goes on until there is one
// or the connection has ended.
func drip(start string) func(context.Context, *kit.T, *kit.Agent, *kit.Upstream) {
	return func(ctx context.Context, t *kit.T, agent *kit.Agent, u *kit.Upstream) {
		agent.Do(ctx, attempt.Attempt{
			Op: attempt.OpDial, Network: "tcp", Address: agent.Proxy(ctx), Conn: "drip", Data: []byte(fill(start, u)),
		})
		outcome := "it is still waited for"
		for range dripRounds {
			sent := agent.Send(ctx, "drip", []byte("a"))
			got := agent.Do(ctx, attempt.Attempt{Op: attempt.OpReceive, Conn: "drip", Until: "line", TimeoutMS: dripMS})
			if sent.Errno != "" || got.Errno != "timeout" {
				outcome = "the proxy has ended it"
				t.Keep("answer.txt", got.Data)
				break
			}
		}
		t.Attempt("a head that comes byte by byte", outcome, kit.Be("the proxy has ended it"))
	}
}
