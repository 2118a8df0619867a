package lifecycle

import (
	"context"
	"time"

	"bridgecheck/suites/catalog"
	"bridgecheck/suites/kit"
	"bridgecheck/suites/subject"
)

// reportBound is how long a report may take; what comes by itself comes in
// milliseconds.
const reportBound = 5 * time.Second

// death is how a server ends in the middle of a call.
type death struct {
	flags  []string
	code   int
	signal string
}

var _ = kit.Table(catalog.Case{
	ID:     "LIF-009",
	Title:  "answers the caller of a server that dies in mid-call, and keeps the others",
	Must:   "A server that dies in mid-call MUST give the caller a JSON-RPC error naming the server, and MUST be reported; the others MUST go on.",
	Level:  catalog.Interoperability,
	Clause: "6.9",
	Needs:  []subject.Capability{subject.HostServers, subject.Events},
	Host:   []catalog.HostFact{catalog.HostUserNS},
	Faults: []string{"death-names-nobody", "death-unreported"},
	Why:    "A client that waits for an answer that cannot come waits until its own timeout, or for ever.",
}, []kit.Row[death]{
	{Name: "exits", Value: death{flags: []string{"--code", "9"}, code: 9}},
	{Name: "killed", Value: death{flags: []string{"--signal", "SIGKILL"}, signal: "SIGKILL"}},
}, func(ctx context.Context, t *kit.T, d death) {
	phase := t.Start(ctx, subject.Spec{Servers: []subject.Server{t.Server("fragile", d.flags...), t.Server("steady")}})
	agent := phase.Agent
	t.Control("a call to the fragile server", agent.Call(ctx, "fragile", "echo", map[string]any{"text": "yet"}), kit.HaveText("yet"))
	t.Control("a call to the other", agent.Call(ctx, "steady", "echo", map[string]any{"text": "yet"}), kit.HaveText("yet"))

	answer := agent.Call(ctx, "fragile", "die", map[string]any{})
	t.Attempt("the call ends with an error", answer.Errno, kit.Be("other"))
	t.Attempt("it came as an answer, with status", answer.Status, kit.Be(200))
	t.Attempt("the error names the server", answer.Error, kit.Contain("fragile"))
	short, cancel := context.WithTimeout(ctx, reportBound)
	defer cancel()
	exited := phase.AwaitEvent(short, subject.EventServerExited, func(e subject.Event) bool { return e.Server == "fragile" })
	t.Attempt("the signal that is told", exited.Signal, kit.Be(d.signal))
	if d.signal == "" {
		t.Attempt("the code that is told", exited.Code, kit.Be(&d.code))
	}
	t.Attempt("the server's last lines", exited.StderrTail, kit.Contain("fragile: dying in the middle of a call"))
	t.Attempt("a call to the other after that", agent.Call(ctx, "steady", "echo", map[string]any{"text": "still"}), kit.HaveText("still"))
	t.FarSide("reports that the other has ended", of(phase.Events(subject.EventServerExited), "steady").Server, kit.BeNone())
})
