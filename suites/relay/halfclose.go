package relay

import (
	"context"
	"fmt"

	"bridgecheck/fakes/attempt"
	"bridgecheck/fakes/content"
	"bridgecheck/fakes/upstream"
	"bridgecheck/suites/catalog"
	"bridgecheck/suites/kit"
	"bridgecheck/suites/subject"
)

var _ = kit.Table(catalog.Case{
	ID:     "RLY-003",
	Title:  "carries the end of one direction as the end of that direction",
	Must:   "Half-close MUST be carried each way: a client that shuts down writing still gets the whole answer, and a server that ends leaves the client writing until it closes.",
	Level:  catalog.Interoperability,
	Clause: "4.3",
	Needs:  []subject.Capability{subject.NetNS},
	Host:   []catalog.HostFact{catalog.HostUserNS},
	Faults: []string{"first-end-ends-both"},
	Why:    "git over a raw socket, and every client that pipes a file and reads the verdict, ends its own direction first.",
}, lines(), func(ctx context.Context, t *kit.T, way lay) {
	const size, seed = 4 << 20, 3
	order := fmt.Sprintf("%d %d", size, seed)
	source := t.Upstream(upstream.Source)
	outside := t.Outside(ctx)
	outside.Do(ctx, attempt.Attempt{Op: attempt.OpDial, Network: "tcp", Address: source.Addr().String(), Conn: "line", Data: []byte(order)})
	outside.Do(ctx, attempt.Attempt{Op: attempt.OpCloseWrite, Conn: "line"})
	t.Control("the answer to a client outside that ended first", outside.Receive(ctx, "line", "eof").SHA256, kit.Be(content.SHA256(seed, size)))

	client := way(ctx, t, upstream.Source, subject.Spec{})
	client.opened(t, "line")
	client.agent.Send(ctx, "line", []byte(order))
	t.Control("the client ends its direction", client.agent.Do(ctx, attempt.Attempt{Op: attempt.OpCloseWrite, Conn: "line"}), kit.Succeed())
	t.Attempt("the answer that it gets after that", client.agent.Receive(ctx, "line", "eof").SHA256, kit.Be(content.SHA256(seed, size)))
	client.phase.Finish(ctx)

	server := way(ctx, t, upstream.EndsFirst, subject.Spec{})
	server.opened(t, "line")
	t.Control("the server's word, and its end", server.agent.Receive(ctx, "line", "eof"), kit.HaveData(upstream.Banner))
	t.Attempt("the client writes after that", server.agent.Do(ctx, attempt.Attempt{Op: attempt.OpSend, Conn: "line", Size: size, Seed: seed}), kit.Succeed())
	server.agent.Do(ctx, attempt.Attempt{Op: attempt.OpCloseWrite, Conn: "line"})
	t.Await(ctx, "the server gets the client's end", func() bool { return last(server.far).Ended })
	t.FarSide("what the server got", last(server.far).SHA256, kit.Be(content.SHA256(seed, size)))
})

// last is the newest connection at a server.
func last(far *upstream.Server) upstream.Stream {
	streams := far.Streams()
	if len(streams) == 0 {
		return upstream.Stream{}
	}
	return streams[len(streams)-1]
}
