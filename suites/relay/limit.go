package relay

import (
	"context"
	"strings"
	"time"

	"bridgecheck/fakes/attempt"
	"bridgecheck/fakes/upstream"
	"bridgecheck/suites/catalog"
	"bridgecheck/suites/kit"
	"bridgecheck/suites/subject"
)

// limited is a line and how many connections it must carry; 0 is what the
// subject declares.
type limited struct {
	way  lay
	most int
}

var _ = kit.Table(catalog.Case{
	ID:     "RLY-004",
	Title:  "carries as many connections as declared, refuses the next, and frees the slot",
	Must:   "As many concurrent connections as the subject declares MUST work; past that the refusal MUST be prompt, and a slot MUST be free again once a connection closes.",
	Level:  catalog.Interoperability,
	Clause: "4.4",
	Needs:  []subject.Capability{subject.NetNS},
	Host:   []catalog.HostFact{catalog.HostUserNS},
	Faults: []string{"relay-slot-leak", "limit-unanswered", "arapuca-limit-silent"},
	Why:    "An agent with a hundred tabs of work is not an attack; one that leaks connections must not stop for ever.",
}, []kit.Row[limited]{
	{Name: "declared", Value: limited{throughProxy, 0}},
	{Name: "proxy", Value: limited{throughProxy, 16}},
	{Name: "relay", Value: limited{throughRelay, 16}},
}, func(ctx context.Context, t *kit.T, l limited) {
	spec, most := subject.Spec{}, t.Subject().Limits.Connections
	if l.most > 0 {
		spec.Limits, most = &subject.Limits{Connections: l.most}, l.most
	}
	if most == 0 {
		t.NotApplicable("the subject declares no number of connections")
	}
	// By the raw relay a connection counts when its line has come back, by the
	// proxy when the tunnel stands.
	line := l.way(ctx, t, upstream.RawEcho, spec)
	line.phase.Honoured(ctx, "limits.connections")
	line.opened(t, "one")
	t.Attempt("connections that work beside it at the same time", line.many(ctx, most-1, "held"), kit.Be(most-1))
	t.Attempt("one more is refused", line.refused(ctx), kit.Be(true))
	line.agent.Close(ctx, "held")

	// A slot may be held a moment longer; how long a round takes is no matter.
	again := 0
	for bound := time.Now().Add(freeBound); again < most-1; {
		again = line.many(ctx, most-1, "again")
		line.agent.Close(ctx, "again")
		if time.Now().After(bound) {
			break
		}
	}
	t.Attempt("connections that work again when those are closed", again, kit.Be(most-1))
})

// freeBound is how long a closed connection may hold its slot.
const freeBound = 5 * time.Second

// many opens connections at once, keeps them, and returns how many work.
func (l *line) many(ctx context.Context, n int, conn string) int {
	hello := l.hello(ctx)
	hello.Op, hello.Count, hello.Conn, hello.TimeoutMS = attempt.OpMany, n, conn, 25_000
	answer := l.agent.Do(ctx, hello)
	return int(answer.Value) - wrong(answer)
}

// wrong are the answers that are no 200, of a proxy.
func wrong(o attempt.Observation) int {
	n := 0
	for line, times := range o.Lines {
		if strings.HasPrefix(line, "HTTP/") && !strings.Contains(line, " 200 ") {
			n += times
		}
	}
	return n
}

// refused makes one connection and reports whether it was refused at once: by
// 503 where HTTP is spoken, else by its end.
func (l *line) refused(ctx context.Context) bool {
	hello := l.hello(ctx)
	hello.Op, hello.TimeoutMS = attempt.OpDial, 8000
	answer := l.agent.Do(ctx, hello)
	if l.http {
		return strings.Contains(string(answer.Data), " 503 ")
	}
	return answer.Errno == "eof" || answer.Errno == "ECONNRESET" || answer.Errno == "EPIPE"
}
