package relay

import (
	"context"

	"bridgecheck/fakes/upstream"
	"bridgecheck/suites/catalog"
	"bridgecheck/suites/kit"
	"bridgecheck/suites/subject"
)

var _ = kit.Table(catalog.Case{
	ID:     "RLY-006",
	Title:  "says that the far side is gone, and works again when it is back",
	Must:   "With the far socket missing, dead or removed the proxy MUST answer 502, a raw relay MUST close at once and write an event; the next connection MUST work when it is back.",
	Level:  catalog.Interoperability,
	Clause: "4.6",
	Needs:  []subject.Capability{subject.NetNS, subject.Events},
	Host:   []catalog.HostFact{catalog.HostUserNS},
	Faults: []string{"relay-never-recovers", "gone-host-told-as-refused"},
	Why:    "Servers are restarted while agents run.",
}, []kit.Row[func(context.Context, *kit.T)]{
	{Name: "proxy", Value: hostComesBack},
	{Name: "relay", Value: socketComesBack},
}, func(ctx context.Context, t *kit.T, body func(context.Context, *kit.T)) { body(ctx, t) })

func hostComesBack(ctx context.Context, t *kit.T) {
	t.Require(subject.Connect)
	host := t.Echo()
	agent := t.Start(ctx, subject.Spec{Allow: []subject.Rule{host.Rule()}}).Agent
	t.Control("CONNECT to the host", agent.Connect(ctx, host.Authority()), kit.BeStatus(200))
	for range 2 {
		host.Close()
		t.Attempt("CONNECT to the host that is gone", agent.Connect(ctx, host.Authority()), kit.BeStatus(502))
		again, err := upstream.Start(host.Addr().String(), upstream.RawEcho)
		if err != nil {
			t.Fatal("start the host again: %v", err)
		}
		host.Server = again
		t.Attempt("CONNECT to the host that is back", agent.Connect(ctx, host.Authority()), kit.BeStatus(200))
	}
	host.Close()
}

func socketComesBack(ctx context.Context, t *kit.T) {
	t.Require(subject.ForeignRelay)
	path := t.Dir("far") + "/socket"
	phase := t.Start(ctx, subject.Spec{Relays: []subject.Relay{{Port: port, UnixSocket: path}}})
	l := &line{agent: phase.Agent}
	for round, was := range []string{"was never there", "was removed", "was removed again"} {
		t.Attempt("a connection to a socket that "+was+" is closed at once", l.closed(ctx), kit.Be(true))
		t.Attempt("events of connections that could not be carried", len(failures(phase)), kit.Be(round+1))
		far := t.SocketUpstream(upstream.RawEcho, path)
		t.Control("the socket outside", t.Outside(ctx).Dial(ctx, "unix", path), kit.Succeed())
		t.Attempt("a connection when it is there", l.agent.Do(ctx, hello(port)), kit.HaveData("hello\n"))
		t.FarSide("connections that the server has had", far.Fence(), kit.Be(2))
		far.Close()
	}
}

// closed dials the raw relay and reports whether it hangs up at once.
func (l *line) closed(ctx context.Context) bool {
	ask := hello(port)
	ask.TimeoutMS = 8000
	switch l.agent.Do(ctx, ask).Errno {
	case "eof", "ECONNRESET", "EPIPE":
		return true
	}
	return false
}

// failures are the events of errors on the raw relay.
func failures(phase *kit.Phase) []subject.Event {
	var all []subject.Event
	for _, e := range phase.Events(subject.EventDecision) {
		if e.Verdict == "error" {
			all = append(all, e)
		}
	}
	return all
}
