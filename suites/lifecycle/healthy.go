package lifecycle

import (
	"context"
	"strings"

	"bridgecheck/fakes/upstream"
	"bridgecheck/suites/catalog"
	"bridgecheck/suites/kit"
	"bridgecheck/suites/subject"
)

var _ = kit.Check(catalog.Case{
	ID:     "LIF-001",
	Title:  "has every server healthy before the agent's first instruction",
	Must:   "Every server MUST be started and healthy before the agent's first instruction.",
	Level:  catalog.Interoperability,
	Clause: "6.1",
	Needs:  []subject.Capability{subject.HostServers},
	Host:   []catalog.HostFact{catalog.HostUserNS},
	Faults: []string{"servers-not-awaited"},
	Why:    "Agents list their tools once, at their start: a server that comes later is not there for the whole session.",
}, func(ctx context.Context, t *kit.T) {
	t.Control("an agent without servers", t.Start(ctx, subject.Spec{}).Fate(ctx), kit.Be("the agent runs"))

	phase := t.Start(ctx, subject.Spec{Servers: []subject.Server{
		t.Server("prompt"), t.Server("late", "--start-delay", "300ms"),
	}})
	t.Attempt("with servers the agent runs too", phase.Fate(ctx), kit.Be("the agent runs"))
	for _, name := range []string{"prompt", "late"} {
		t.FarSide("requests that server "+name+" had by then", requests(t.Announced(name)), kit.Differ([]string{}))
	}
	t.Attempt("a call to the late one", phase.Agent.Call(ctx, "late", "echo", map[string]any{"text": "at once"}), kit.HaveText("at once"))
})

var _ = kit.Table(catalog.Case{
	ID:     "LIF-002",
	Title:  "takes an answer to an MCP request as health, and nothing less",
	Must:   "Health MUST mean that the server answered an MCP request on its own endpoint, not that a port accepts; and it MUST never spend the client's own initialize.",
	Level:  catalog.Interoperability,
	Clause: "6.2",
	Needs:  []subject.Capability{subject.HostServers},
	Host:   []catalog.HostFact{catalog.HostUserNS},
	Faults: []string{"health-is-an-open-port", "health-is-a-running-process", "health-by-initialize"},
	Why:    "A server behind a wrapper accepts connections long before it works; one that was initialised by the bridge refuses its client.",
}, []kit.Row[func(context.Context, *kit.T)]{
	{Name: "silent-stdio", Value: silentOnStdio},
	{Name: "silent-http", Value: silentBehindAPort},
	{Name: "initialize-kept", Value: initializeKept},
}, func(ctx context.Context, t *kit.T, body func(context.Context, *kit.T)) { body(ctx, t) })

func silentOnStdio(ctx context.Context, t *kit.T) {
	t.Control("a server that answers", t.Start(ctx, subject.Spec{Servers: []subject.Server{t.Server("good")}}).Fate(ctx), kit.Be("the agent runs"))
	mute := t.Server("mute", "--mute")
	mute.StartTimeoutMS = 300
	phase := t.Start(ctx, subject.Spec{Servers: []subject.Server{mute}})
	t.Attempt("a server that runs and answers nothing", phase.Fate(ctx), kit.Be("exit code 125"))
	t.FarSide("requests that it had", requests(t.Announced("mute")), kit.Differ([]string{}))
}

func silentBehindAPort(ctx context.Context, t *kit.T) {
	silent := t.UpstreamAt(upstream.Silent, "127.0.0.1")
	t.Control("its port accepts", t.Outside(ctx).Dial(ctx, "tcp", silent.Addr().String()), kit.Succeed())
	before := silent.Heard()
	phase := t.Start(ctx, subject.Spec{Servers: []subject.Server{{
		Name: "silent", Placement: "host", Kind: "http", URL: "http://" + silent.Addr().String() + "/mcp", StartTimeoutMS: 300,
	}}})
	t.Attempt("a server whose port accepts and that answers nothing", phase.Fate(ctx), kit.Be("exit code 125"))
	t.FarSide("connections that it had from the subject", silent.Heard()-before, kit.Differ(0))
}

// initializeKept allows a process of its own for the health check: what counts
// is that no process gets more than one initialize.
func initializeKept(ctx context.Context, t *kit.T) {
	phase := t.Start(ctx, subject.Spec{Servers: []subject.Server{t.Server("old", "--era", "legacy")}})
	t.Attempt("the client's session", phase.Agent.Call(ctx, "old", "echo", map[string]any{"text": "mine"}), kit.HaveText("mine"))
	announced := t.Announced("old")
	t.Control("requests that the server announced", requests(announced), kit.Contain("initialize"))
	spent := max(0, count(announced, "request initialize")-count(announced, "started "))
	t.FarSide("initialize requests beyond one for each process", spent, kit.BeNone())
	t.Keep("announced.txt", []byte(strings.Join(announced, "\n")))
}
