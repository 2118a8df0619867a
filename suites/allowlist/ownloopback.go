package allowlist

import (
	"context"
	"fmt"

	"bridgecheck/fakes/attempt"
	"bridgecheck/fakes/dns"
	"bridgecheck/fakes/upstream"
	"bridgecheck/suites/catalog"
	"bridgecheck/suites/kit"
	"bridgecheck/suites/subject"
)

// relayPort is a server's port in the sandbox, and in these checks that of a
// service of the host too.
const relayPort = 18765

// loopback is a host as a client writes it, and where the host's own service
// listens that it could lead to.
type loopback struct{ written, listen string }

var _ = kit.Table(catalog.Case{
	ID:     "ALW-030",
	Title:  "takes loopback targets for the sandbox's own",
	Must:   "127.0.0.1:PORT sent to the proxy MUST reach the adapter of the declared relay port; any other loopback target MUST be refused, and the host's loopback MUST NOT hear of it.",
	Level:  catalog.Security,
	Clause: "5.30",
	Needs:  []subject.Capability{subject.Connect, subject.HostServers, subject.RelayPorts},
	Faults: []string{"loopback-dialled-on-host", "relay-port-unknown"},
	Why:    "Clients that ignore NO_PROXY send their loopback URLs to the proxy, which stands on the host.",
}, []kit.Row[func(context.Context, *kit.T)]{
	{Name: "relay-port", Value: reachesAdapter("127.0.0.1")},
	{Name: "relay-port-localhost", Value: reachesAdapter("localhost")},
	{Name: "v4", Value: loopback{"127.0.0.1", "127.0.0.1"}.refused},
	{Name: "localhost", Value: loopback{"localhost", "127.0.0.1"}.refused},
	{Name: "below-localhost", Value: loopback{"a.localhost", "127.0.0.1"}.refused},
	{Name: "v4-other", Value: loopback{"127.0.0.2", "127.0.0.2"}.refused},
	{Name: "zero", Value: loopback{"0.0.0.0", "127.0.0.1"}.refused},
	{Name: "v6", Value: loopback{"[::1]", "::1"}.refused},
	{Name: "octal", Value: loopback{"0177.0.0.1", "127.0.0.1"}.refused},
	{Name: "hex", Value: loopback{"0x7f000001", "127.0.0.1"}.refused},
	{Name: "decimal", Value: loopback{"2130706433", "127.0.0.1"}.refused},
	{Name: "short", Value: loopback{"127.1", "127.0.0.1"}.refused},
	{Name: "mapped", Value: loopback{"[::ffff:127.0.0.1]", "127.0.0.1"}.refused},
}, func(ctx context.Context, t *kit.T, run func(context.Context, *kit.T)) { run(ctx, t) })

// reachesAdapter asks for the relay port while a service of the host listens on
// that port of the host's own loopback.
func reachesAdapter(host string) func(context.Context, *kit.T) {
	return func(ctx context.Context, t *kit.T) {
		service := t.UpstreamOn(upstream.HTTP, "127.0.0.1", relayPort)
		server := t.Server("jira", "--nonce", "is-jira")
		server.Port = relayPort
		phase := t.Start(ctx, subject.Spec{Servers: []subject.Server{server}})
		t.Control("a direct session", phase.Agent.Call(ctx, "jira", "echo", map[string]any{"text": "direct"}), kit.HaveText("direct"))
		path := part(phase.Door(ctx, "jira", "loopback")).Path
		for _, via := range []string{"connect", "proxy"} {
			if via == "proxy" && !t.Subject().Claims(subject.AbsoluteForm) {
				continue
			}
			answer := phase.Agent.Do(ctx, attempt.Attempt{
				Op: attempt.OpMCP, URL: fmt.Sprintf("http://%s:%d%s", host, relayPort, path), Via: via, Tool: "whoami",
			})
			t.Attempt("MCP session through the proxy, via "+via, answer, kit.Succeed())
			t.Attempt("which server answered", answer.Text, kit.Contain(`"nonce":"is-jira"`))
		}
		t.FarSide("connections at the host's own port", service.Heard(), kit.BeNone())
	}
}

// refused asks for a service of the host that is no relay port.
func (l loopback) refused(ctx context.Context, t *kit.T) {
	if l.listen == "::1" || l.written[0] == '[' {
		t.RequireHost(catalog.HostIPv6)
	}
	service := t.UpstreamAt(upstream.HTTP, l.listen)
	target := fmt.Sprintf("%s:%d", l.written, service.Port())
	t.Control("the service answers outside", t.Outside(ctx).Get(ctx, "http://"+service.Addr().String()+"/", "direct"), kit.BeStatus(200))
	for _, name := range []string{"localhost", "a.localhost"} {
		t.Name(name, dns.Addresses("127.0.0.1")) // for a subject that asks for it
	}
	before := service.Heard()
	phase := t.Start(ctx, subject.Spec{Servers: []subject.Server{t.Server("jira")}})
	for _, f := range forms(t) {
		t.Control(f.name+" to the relay port is answered", f.ask(ctx, phase.Agent, part(phase.Door(ctx, "jira", "loopback")).Host), kit.BeStatus(200, 400, 404, 405, 406))
		answer := f.ask(ctx, phase.Agent, target)
		t.Attempt(f.name+" to "+target, answer, kit.BeStatus(400, 403, 502))
	}
	t.FarSide("connections at the service by the subject", service.Heard()-before, kit.BeNone())
}
