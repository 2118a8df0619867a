package allowlist

import (
	"context"
	"fmt"

	"bridgecheck/suites/catalog"
	"bridgecheck/suites/kit"
	"bridgecheck/suites/subject"
)

// confusion is a request whose target and Host name different hosts.
type confusion struct {
	head string // with target and Host
	// declared tells that the target is the declared host.
	declared bool
	statuses []int
}

var _ = kit.Table(catalog.Case{
	ID:     "ALW-005",
	Title:  "judges the request target and nothing else",
	Must:   "The request target alone MUST decide; what is judged MUST be what is dialled, and a forwarded request MUST carry the target's Host (RFC 9112 section 3.2.2). 400 is right too.",
	Level:  catalog.Security,
	Clause: "5.5",
	Needs:  []subject.Capability{subject.Connect},
	Faults: []string{"host-field-judged", "host-field-kept"},
	Why:    "A proxy that judges Host and dials the target is open to whoever writes an allowed name into Host.",
}, []kit.Row[confusion]{
	{Name: "connect", Value: confusion{"CONNECT %s HTTP/1.1\r\nHost: %s\r\n\r\n", true, []int{200, 400}}},
	{Name: "connect-undeclared", Value: confusion{"CONNECT %s HTTP/1.1\r\nHost: %s\r\n\r\n", false, []int{400, 403}}},
	{Name: "absolute", Value: confusion{"GET http://%s/ HTTP/1.1\r\nHost: %s\r\nConnection: close\r\n\r\n", true, []int{200, 400}}},
	{Name: "absolute-undeclared", Value: confusion{"GET http://%s/ HTTP/1.1\r\nHost: %s\r\nConnection: close\r\n\r\n", false, []int{400, 403, 502}}},
}, func(ctx context.Context, t *kit.T, c confusion) {
	if plain := c.head[:3] == "GET"; plain {
		t.Require(subject.AbsoluteForm)
	}
	allowed, blocked := t.HTTP(), t.HTTP()
	agent := t.Start(ctx, subject.Spec{Allow: []subject.Rule{allowed.Rule()}}).Agent
	same := fmt.Sprintf(c.head, allowed.Authority(), allowed.Authority())
	t.Control("the declared host in both", agent.Raw(ctx, "same", []byte(same)), kit.BeStatus(200))

	target, host := allowed, blocked
	if !c.declared {
		target, host = blocked, allowed
	}
	before := len(allowed.Requests())
	mixed := fmt.Sprintf(c.head, target.Authority(), host.Authority())
	t.Attempt("another host in Host", agent.Raw(ctx, "mixed", []byte(mixed)), kit.BeStatus(c.statuses...))
	t.FarSide("connections at the host that is not declared", blocked.Heard(), kit.BeNone())
	for _, r := range allowed.Requests()[before:] {
		t.FarSide("Host of what was forwarded", r.Host, kit.Be(allowed.Authority()))
	}
})
