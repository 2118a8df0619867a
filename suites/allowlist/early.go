package allowlist

import (
	"context"

	"bridgecheck/fakes/attempt"
	"bridgecheck/fakes/upstream"
	"bridgecheck/suites/catalog"
	"bridgecheck/suites/kit"
	"bridgecheck/suites/subject"
)

var _ = kit.Table(catalog.Case{
	ID:     "ALW-017",
	Title:  "loses no byte round the head of a CONNECT",
	Must:   "Bytes that follow the CONNECT head in the same segment MUST reach the server, and a server's first bytes after the 200 MUST reach the client.",
	Level:  catalog.Interoperability,
	Clause: "5.17",
	Needs:  []subject.Capability{subject.Connect},
	Faults: []string{"early-bytes-lost", "banner-lost"},
	Why:    "What a buffered reader holds when a connection is taken over is lost unless somebody forwards it.",
}, []kit.Row[upstream.Kind]{
	{Name: "client", Value: upstream.RawEcho},
	{Name: "server", Value: upstream.SpeaksFirst},
	{Name: "server-ends", Value: upstream.EndsFirst},
}, func(ctx context.Context, t *kit.T, kind upstream.Kind) {
	u := t.Upstream(kind)
	agent := t.Start(ctx, subject.Spec{Allow: []subject.Rule{u.Rule()}}).Agent
	t.Control("CONNECT alone", agent.Connect(ctx, u.Authority()), kit.BeStatus(200))

	head := "CONNECT " + u.Authority() + " HTTP/1.1\r\nHost: " + u.Authority() + "\r\n\r\n"
	if kind != upstream.RawEcho {
		t.Attempt("CONNECT to a server that speaks first", agent.Raw(ctx, "early", []byte(head)), kit.BeStatus(200))
		t.Attempt("first line of the tunnel", firstLine(ctx, agent), kit.HaveData(upstream.Banner))
		return
	}
	t.Attempt("CONNECT with a line behind the head", agent.Raw(ctx, "early", []byte(head+"early\r\n")), kit.BeStatus(200))
	t.Attempt("first line of the tunnel", firstLine(ctx, agent), kit.HaveData("early\r\n"))
	streams := u.Streams()
	t.FarSide("what the server got", string(streams[len(streams)-1].Head), kit.Be("early\r\n"))
})

// firstLine waits for no more than a moment: a line that is lost never comes.
func firstLine(ctx context.Context, a *kit.Agent) attempt.Observation {
	return a.Do(ctx, attempt.Attempt{Op: attempt.OpReceive, Conn: "early", Until: "line", TimeoutMS: 3000})
}
