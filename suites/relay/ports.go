package relay

import (
	"context"
	"encoding/json"
	"fmt"
	"net/url"
	"strings"

	"bridgecheck/fakes/attempt"
	"bridgecheck/fakes/upstream"
	"bridgecheck/suites/catalog"
	"bridgecheck/suites/kit"
	"bridgecheck/suites/subject"
)

var _ = kit.Table(catalog.Case{
	ID:     "RLY-012",
	Title:  "leads every port to its own socket and to no other",
	Must:   "Every declared extra port MUST be relayed to its own socket and to no other.",
	Level:  catalog.Interoperability,
	Clause: "4.12",
	Needs:  []subject.Capability{subject.NetNS},
	Host:   []catalog.HostFact{catalog.HostUserNS},
	Faults: []string{"relay-ports-swapped", "door-ports-swapped"},
}, []kit.Row[func(context.Context, *kit.T)]{
	{Name: "sockets", Value: ownSockets},
	{Name: "servers", Value: ownServers},
}, func(ctx context.Context, t *kit.T, body func(context.Context, *kit.T)) { body(ctx, t) })

func ownSockets(ctx context.Context, t *kit.T) {
	t.Require(subject.ForeignRelay)
	var relays []subject.Relay
	var far []*upstream.Server
	for i := range 3 {
		path := t.Dir("far") + fmt.Sprintf("/%d", i)
		far = append(far, t.SocketUpstream(upstream.RawEcho, path))
		relays = append(relays, subject.Relay{Port: port + i, UnixSocket: path})
		t.Control("the socket outside", t.Outside(ctx).Dial(ctx, "unix", path), kit.Succeed())
	}
	agent := t.Start(ctx, subject.Spec{Relays: relays}).Agent
	for i := range relays {
		t.Attempt(fmt.Sprintf("port %d", port+i), agent.Do(ctx, hello(port+i)), kit.HaveData("hello\n"))
		for j := range relays {
			// One connection was the control's.
			t.FarSide(fmt.Sprintf("connections at socket %d", j), far[j].Fence()-1, kit.Be(atMost(i, j)))
		}
	}
}

// atMost is 1 for a socket whose port has been tried.
func atMost(tried, socket int) int {
	if socket <= tried {
		return 1
	}
	return 0
}

func ownServers(ctx context.Context, t *kit.T) {
	t.Require(subject.RelayPorts)
	t.Require(subject.HostServers)
	var servers []subject.Server
	for i, name := range []string{"one", "two", "three"} {
		server := t.Server(name, "--nonce", "this is "+name)
		server.Port = port + i
		servers = append(servers, server)
	}
	agent := t.Start(ctx, subject.Spec{Servers: servers}).Agent
	for _, s := range servers {
		door, err := url.Parse(agent.Env(ctx, "BRIDGE_SERVER_"+strings.ToUpper(s.Name)+"_URL"))
		t.Control("the environment names a URL of server "+s.Name, err, kit.Be(error(nil)))
		t.Attempt("its host and port", door.Host, kit.Be(loopback(s.Port)))
		answer := agent.Do(ctx, attempt.Attempt{Op: attempt.OpMCP, URL: door.String(), Via: "direct", Tool: "whoami", Arguments: map[string]any{}})
		var who struct{ Nonce string }
		_ = json.Unmarshal([]byte(answer.Text), &who) // what is no JSON has no nonce
		t.Attempt("the server behind it", who.Nonce, kit.Be("this is "+s.Name))
	}
}

// clash is a spec with a port that two want, and the words for both.
type clash struct {
	spec   func(t *kit.T) subject.Spec
	owners []string
}

var _ = kit.Table(catalog.Case{
	ID:     "RLY-013",
	Title:  "refuses a port that two want, and tells the ports that it chose",
	Must:   "Duplicate ports, and ports already taken, MUST be refused at load with both owners named; ports asked as 0 MUST be chosen and told in the environment and in the ready event.",
	Level:  catalog.Interoperability,
	Clause: "4.13",
	Needs:  []subject.Capability{subject.NetNS, subject.RelayPorts, subject.HostServers, subject.Events},
	Host:   []catalog.HostFact{catalog.HostUserNS},
	Faults: []string{"port-clash-unseen", "chosen-port-untold"},
}, []kit.Row[clash]{
	{Name: "two-servers", Value: clash{owners: []string{"one", "two"}, spec: func(t *kit.T) subject.Spec {
		return subject.Spec{Servers: []subject.Server{at(t, "one", port), at(t, "two", port)}}
	}}},
	{Name: "server-and-relay", Value: clash{owners: []string{"one", "/nowhere/far"}, spec: func(t *kit.T) subject.Spec {
		t.Require(subject.ForeignRelay)
		return subject.Spec{Servers: []subject.Server{at(t, "one", port)}, Relays: []subject.Relay{{Port: port, UnixSocket: "/nowhere/far"}}}
	}}},
	{Name: "two-relays", Value: clash{owners: []string{"/nowhere/far", "/nowhere/near"}, spec: func(t *kit.T) subject.Spec {
		t.Require(subject.ForeignRelay)
		return subject.Spec{Relays: []subject.Relay{{Port: port, UnixSocket: "/nowhere/far"}, {Port: port, UnixSocket: "/nowhere/near"}}}
	}}},
	{Name: "chosen", Value: clash{}},
}, func(ctx context.Context, t *kit.T, c clash) {
	chosen(ctx, t, c.spec == nil)
	if c.spec == nil {
		return
	}
	phase := t.Start(ctx, c.spec(t))
	t.Attempt("the start", phase.Fate(ctx), kit.Be("exit code 125"))
	var said []string
	for _, e := range phase.Events(subject.EventError) {
		said = append(append(said, e.Reason), e.Causes...)
	}
	for _, owner := range c.owners {
		t.Attempt("the error names "+owner, strings.Join(said, "\n"), kit.Contain(owner))
	}
	t.FarSide("servers that were started", phase.Events(subject.EventServerStarted), kit.BeNone())
})

// chosen runs two servers without a port; it is what is claimed in its own row,
// and the control in the others.
func chosen(ctx context.Context, t *kit.T, claim bool) {
	says := t.Control
	if claim {
		t.Control("an agent without servers", t.Start(ctx, subject.Spec{}).Fate(ctx), kit.Be("the agent runs"))
		says = t.Attempt
	}
	phase := t.Start(ctx, subject.Spec{Servers: []subject.Server{at(t, "one", 0), at(t, "two", 0)}})
	says("servers with ports that the subject chooses", phase.Fate(ctx), kit.Be("the agent runs"))
	one, two := phase.Door(ctx, "one", "loopback"), phase.Door(ctx, "two", "loopback")
	says("they have two doors", one, kit.Differ(two))
	says("the environment's URL of one is that of the ready event", phase.Agent.Env(ctx, "BRIDGE_SERVER_ONE_URL"), kit.Be(one))
	says("the environment's URL of two is that of the ready event", phase.Agent.Env(ctx, "BRIDGE_SERVER_TWO_URL"), kit.Be(two))
	says("a call through it", phase.Agent.Call(ctx, "two", "echo", map[string]any{"text": "two"}), kit.HaveText("two"))
	phase.Finish(ctx)
}

func at(t *kit.T, name string, port int) subject.Server {
	s := t.Server(name)
	s.Port = port
	return s
}
