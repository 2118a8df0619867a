package lifecycle

import (
	"context"
	"encoding/json"
	"slices"
	"strings"

	"bridgecheck/suites/catalog"
	"bridgecheck/suites/kit"
	"bridgecheck/suites/subject"
)

var _ = kit.Check(catalog.Case{
	ID:     "LIF-012",
	Title:  "keeps two phases at the same time apart",
	Must:   "Two phases at the same time MUST NOT see each other: names, ports, sockets, servers, logs.",
	Level:  catalog.Interoperability,
	Clause: "6.12",
	Needs:  []subject.Capability{subject.HostServers, subject.Events},
	Host:   []catalog.HostFact{catalog.HostUserNS},
	Faults: []string{"one-directory-for-all"},
	Why:    "Two agents in two terminals share a user, a /tmp and the names of their servers.",
}, func(ctx context.Context, t *kit.T) {
	// The same names, and one place for the sockets of both.
	runtime := &subject.Paths{Runtime: t.Dir("runtime")}
	marks := map[string]string{"alone": t.Unique(), "a": t.Unique(), "b": t.Unique()}
	spec := func(nonce string) subject.Spec {
		return subject.Spec{Servers: []subject.Server{t.Server("twin", "--nonce", nonce, "--mark", marks[nonce])}, Paths: runtime}
	}
	alone := t.Start(ctx, spec("alone"))
	t.Control("the server that a phase alone reaches", nonce(ctx, t, alone), kit.Be("alone"))
	alone.Finish(ctx)

	a, b := t.Start(ctx, spec("a")), t.Start(ctx, spec("b"))
	t.Attempt("the first phase", a.Fate(ctx), kit.Be("the agent runs"))
	t.Attempt("the second phase", b.Fate(ctx), kit.Be("the agent runs"))
	t.Attempt("the server that the first reaches", nonce(ctx, t, a), kit.Be("a"))
	t.Attempt("the server that the second reaches", nonce(ctx, t, b), kit.Be("b"))
	sockets := []string{socket(a), socket(b)}
	t.Attempt("sockets of the first that are the second's too", sockets[0] != "" && sockets[0] == sockets[1], kit.Be(false))

	t.Attempt("the first phase ends", a.Finish(ctx), kit.Be(kit.Exit{}))
	t.Attempt("the server that the second reaches after that", nonce(ctx, t, b), kit.Be("b"))
	t.Attempt("servers that the second was told have stopped", b.Events(subject.EventServerStopped), kit.BeNone())
	t.FarSide("processes of the first's server", withMark(t, marks["a"]), kit.BeNone())
	t.FarSide("processes of the second's server", withMark(t, marks["b"]), kit.Differ([]string{}))
	foreign := slices.ContainsFunc(b.EventLines(), func(line []byte) bool { return sockets[0] != "" && strings.Contains(string(line), sockets[0]) })
	t.Attempt("the second's events speak of the first's socket", foreign, kit.Be(false))
})

// nonce is what the server behind the agent's door tells of itself.
func nonce(ctx context.Context, t *kit.T, phase *kit.Phase) string {
	answer := phase.Agent.Call(ctx, "twin", "whoami", map[string]any{})
	var who struct{ Nonce string }
	if err := json.Unmarshal([]byte(answer.Text), &who); err != nil {
		t.Attempt("an answer of the server", answer, kit.Succeed())
	}
	return who.Nonce
}

func socket(phase *kit.Phase) string {
	return of(phase.Events(subject.EventServerStarted), "twin").Socket
}
