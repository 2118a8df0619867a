package allowlist

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"

	"bridgecheck/fakes/attempt"
	"bridgecheck/suites/catalog"
	"bridgecheck/suites/kit"
	"bridgecheck/suites/subject"
)

var _ = kit.Table(catalog.Case{
	ID:     "ALW-018",
	Title:  "judges every request of a connection on its own",
	Must:   "Every request on a kept-alive connection MUST be judged on its own; bytes after a refused CONNECT MUST NOT be taken for a request.",
	Level:  catalog.Security,
	Clause: "5.18",
	Needs:  []subject.Capability{subject.AbsoluteForm},
	Faults: []string{"first-request-judged", "read-on-after-refusal", "refused-body-is-a-request", "tunnel-serves-any-authority"},
	Why:    "Proxies have judged the first request of a connection and forwarded the second without a look.",
}, []kit.Row[func(ctx context.Context, t *kit.T, agent *kit.Agent, allowed, blocked *kit.Upstream)]{
	{Name: "pipelined", Value: pipelined},
	{Name: "kept-alive", Value: keptAlive},
	{Name: "connect-second", Value: connectSecond},
	{Name: "after-refusal", Value: afterRefusal},
	{Name: "body-of-refused", Value: bodyOfRefused},
	{Name: "in-tunnel", Value: inTunnel},
}, func(ctx context.Context, t *kit.T, run func(ctx context.Context, t *kit.T, agent *kit.Agent, allowed, blocked *kit.Upstream)) {
	allowed, blocked := t.HTTP(), t.HTTP()
	agent := t.Start(ctx, subject.Spec{Allow: []subject.Rule{allowed.Rule()}}).Agent
	two := get(allowed, "first", "keep-alive") + get(allowed, "second", "close")
	t.Control("statuses of two requests in one write, both allowed", statuses(exchange(ctx, agent, two)), kit.Be([]int{200, 200}))
	run(ctx, t, agent, allowed, blocked)
	t.FarSide("connections at the host that is not declared", blocked.Heard(), kit.BeNone())
	t.FarSide("DNS queries for it", t.Queries(blocked.Name), kit.BeNone())
})

func pipelined(ctx context.Context, t *kit.T, agent *kit.Agent, allowed, blocked *kit.Upstream) {
	answer := exchange(ctx, agent, get(allowed, "a", "keep-alive")+get(blocked, "b", "close"))
	t.Attempt("statuses of an allowed and a forbidden request in one write", allowedThenRefused(answer), kit.Be(true))
}

func keptAlive(ctx context.Context, t *kit.T, agent *kit.Agent, allowed, blocked *kit.Upstream) {
	t.Attempt("an allowed request", agent.Raw(ctx, "kept", []byte(get(allowed, "a", "keep-alive"))), kit.BeStatus(200))
	agent.Receive(ctx, "kept", "line") // its body
	agent.Send(ctx, "kept", []byte(get(blocked, "b", "close")))
	t.Attempt("a forbidden one on the same connection", agent.Receive(ctx, "kept", "eof"), kit.BeRefusal())
}

func connectSecond(ctx context.Context, t *kit.T, agent *kit.Agent, allowed, blocked *kit.Upstream) {
	tunnel := "CONNECT " + blocked.Authority() + " HTTP/1.1\r\nHost: " + blocked.Authority() + "\r\n\r\n"
	answer := exchange(ctx, agent, get(allowed, "a", "keep-alive")+tunnel)
	t.Attempt("statuses of an allowed request and a forbidden CONNECT in one write", allowedThenRefused(answer), kit.Be(true))
}

func afterRefusal(ctx context.Context, t *kit.T, agent *kit.Agent, allowed, blocked *kit.Upstream) {
	before := len(allowed.Requests())
	tunnel := "CONNECT " + blocked.Authority() + " HTTP/1.1\r\nHost: " + blocked.Authority() + "\r\n\r\n"
	answer := exchange(ctx, agent, tunnel+get(allowed, "hidden", "close"))
	t.Attempt("statuses of a forbidden CONNECT with a request behind it", statuses(answer), kit.Be([]int{403}))
	t.FarSide("requests at the declared host for the attempt", len(allowed.Requests())-before, kit.BeNone())
}

// bodyOfRefused refuses a request before its body has come: that is none either.
func bodyOfRefused(ctx context.Context, t *kit.T, agent *kit.Agent, allowed, blocked *kit.Upstream) {
	before := len(allowed.Requests())
	body := get(allowed, "hidden", "close")
	post := fmt.Sprintf("POST %s HTTP/1.1\r\nHost: %s\r\nContent-Length: %d\r\n\r\n", blocked.URL(), blocked.Authority(), len(body))
	answer := exchange(ctx, agent, post+body)
	t.Attempt("answers to a forbidden request with a request as its body", len(statuses(answer)), kit.Be(1))
	t.FarSide("requests at the declared host for the attempt", len(allowed.Requests())-before, kit.BeNone())
}

// inTunnel asks for other authorities in a tunnel to a server.
func inTunnel(ctx context.Context, t *kit.T, _ *kit.Agent, _, blocked *kit.Upstream) {
	for _, need := range []subject.Capability{subject.Connect, subject.VirtualNames, subject.HostServers} {
		t.Require(need)
	}
	phase := t.Start(ctx, subject.Spec{Servers: []subject.Server{t.Server("near"), t.Server("beside")}})
	door := part(phase.Door(ctx, "near", "proxy"))
	ask := func(authority string) attempt.Observation {
		opened := phase.Agent.Connect(ctx, "near.mcp.internal:80")
		t.Control("a tunnel to the server", opened, kit.BeStatus(200))
		body := kit.Initialize("2025-06-18", "{}")
		phase.Agent.Send(ctx, "tunnel", fmt.Appendf(nil, "POST http://%s%s HTTP/1.1\r\nHost: %s\r\nContent-Type: application/json\r\n"+
			"Accept: application/json, text/event-stream\r\nContent-Length: %d\r\n\r\n%s", authority, door.Path, authority, len(body), body))
		answer := phase.Agent.Receive(ctx, "tunnel", "head")
		phase.Agent.Close(ctx, "tunnel")
		return answer
	}
	t.Control("a request for the server in the tunnel", ask("near.mcp.internal"), kit.BeStatus(200))
	before := len(t.Announced("near")) + len(t.Announced("beside"))
	for _, other := range []string{"near.mcp.internal:81", "beside.mcp.internal", blocked.Authority()} {
		t.Attempt("a request for "+other+" in the tunnel", ask(other), kit.BeRefusal())
	}
	t.FarSide("what the servers have heard since", len(t.Announced("near"))+len(t.Announced("beside"))-before, kit.BeNone())
}

// get is a request in absolute form.
func get(u *kit.Upstream, path, connection string) string {
	return "GET " + u.URL() + path + " HTTP/1.1\r\nHost: " + u.Authority() + "\r\nConnection: " + connection + "\r\n\r\n"
}

// exchange sends bytes on a connection of its own and reads to the end.
func exchange(ctx context.Context, a *kit.Agent, data string) attempt.Observation {
	return a.Do(ctx, attempt.Attempt{
		Op: attempt.OpDial, Network: "tcp", Address: a.Proxy(ctx), Data: []byte(data), Until: "eof", TimeoutMS: 3000,
	})
}

// statuses are those of the answers that came, one after the other; a rest that
// is no whole answer counts as 0.
func statuses(o attempt.Observation) []int {
	list := []int{}
	for r := bufio.NewReader(bytes.NewReader(o.Data)); ; {
		if _, err := r.Peek(1); err != nil {
			return list
		}
		answer, err := http.ReadResponse(r, nil)
		if err == nil {
			_, err = io.Copy(io.Discard, answer.Body)
			_ = answer.Body.Close()
		}
		if err != nil {
			return append(list, 0)
		}
		list = append(list, answer.StatusCode)
	}
}

// allowedThenRefused tells whether the first request was served and the second
// refused, by an answer or by the end of the connection.
func allowedThenRefused(o attempt.Observation) bool {
	list := statuses(o)
	return len(list) > 0 && list[0] == 200 && (len(list) == 1 || len(list) == 2 && list[1] >= 400)
}
