// Package relay holds the checks of section 4 of the contract: what connects a
// loopback port of the sandbox with the host. There are two such lines, a tunnel
// through the proxy and a raw relay to a Unix socket, and most checks try both.
package relay

import (
	"context"
	"fmt"

	"bridgecheck/fakes/attempt"
	"bridgecheck/fakes/upstream"
	"bridgecheck/suites/kit"
	"bridgecheck/suites/subject"
)

// line is one way from an agent to a counting server.
type line struct {
	agent *kit.Agent
	phase *kit.Phase
	far   *upstream.Server
	http  bool // the line begins with a request
	// hello connects and ends when a first line has come back: the proxy's
	// answer, or by a raw relay the server's echo.
	hello func(ctx context.Context) attempt.Attempt
	// open connects and keeps the connection under the name.
	open func(conn string) attempt.Observation
}

// lay makes a line to a server of the kind, in a phase of its own.
type lay func(ctx context.Context, t *kit.T, kind upstream.Kind, spec subject.Spec) *line

var (
	throughProxy lay = proxied
	throughRelay lay = relayed
)

// lines are the rows of checks that try each line.
func lines() []kit.Row[lay] {
	return []kit.Row[lay]{{Name: "proxy", Value: throughProxy}, {Name: "relay", Value: throughRelay}}
}

func proxied(ctx context.Context, t *kit.T, kind upstream.Kind, spec subject.Spec) *line {
	t.Require(subject.Connect)
	far := t.Upstream(kind)
	spec.Allow = append(spec.Allow, far.Rule())
	l := &line{phase: t.Start(ctx, spec), far: far.Server, http: true}
	l.agent = l.phase.Agent
	connect := fmt.Appendf(nil, "CONNECT %s HTTP/1.1\r\nHost: %[1]s\r\n\r\n", far.Authority())
	l.hello = func(ctx context.Context) attempt.Attempt {
		return attempt.Attempt{Op: attempt.OpDial, Network: "tcp", Address: l.agent.Proxy(ctx), Data: connect, Until: "line"}
	}
	l.open = func(conn string) attempt.Observation { return l.agent.Raw(ctx, conn, connect) }
	return l
}

// port is where raw relays begin in these checks.
const port = 19000

func relayed(ctx context.Context, t *kit.T, kind upstream.Kind, spec subject.Spec) *line {
	t.Require(subject.ForeignRelay)
	path := t.Dir("far") + "/" + t.Unique()
	l := &line{far: t.SocketUpstream(kind, path)}
	spec.Relays = append(spec.Relays, subject.Relay{Port: port, UnixSocket: path})
	l.phase = t.Start(ctx, spec)
	l.agent = l.phase.Agent
	l.hello = func(context.Context) attempt.Attempt { return hello(port) }
	l.open = func(conn string) attempt.Observation {
		return l.agent.Do(ctx, attempt.Attempt{Op: attempt.OpDial, Network: "tcp", Address: loopback(port), Conn: conn})
	}
	return l
}

func loopback(port int) string { return fmt.Sprintf("127.0.0.1:%d", port) }

// hello says a line to a raw relay and waits for its echo.
func hello(port int) attempt.Attempt {
	return attempt.Attempt{Op: attempt.OpDial, Network: "tcp", Address: loopback(port), Data: []byte("hello\n"), Until: "line"}
}

// opened asserts that the line can be opened.
func (l *line) opened(t *kit.T, conn string) {
	obs := l.open(conn)
	if obs.Status != 0 {
		t.Control("a tunnel to the server", obs, kit.BeStatus(200))
		return
	}
	t.Control("a connection to the relay", obs, kit.Succeed())
}
