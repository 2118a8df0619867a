package escape

import (
	"context"
	"net/url"
	"strings"

	"bridgecheck/fakes/attempt"
	"bridgecheck/fakes/llm"
	"bridgecheck/suites/catalog"
	"bridgecheck/suites/kit"
	"bridgecheck/suites/subject"
)

var _ = kit.Table(catalog.Case{
	ID:     "ESC-012",
	Title:  "cannot reach what belongs to another phase",
	Must:   "The agent MUST NOT be able to reach another phase's adapter, nor the model key.",
	Level:  catalog.Security,
	Clause: "11.12",
	Needs:  []subject.Capability{subject.HostServers},
	Host:   []catalog.HostFact{catalog.HostUserNS},
	Faults: []string{"any-name-leads-to-a-server", "token-shared", "model-door-open", "host-netns-shared", "model-key-in-environment"},
	Why:    "Two agents of one user at the same time are the rule; what one may do the other need not.",
}, []kit.Row[func(context.Context, *kit.T)]{
	{Name: "port", Value: foreignPort},
	{Name: "name", Value: foreignName},
	{Name: "shared-network", Value: foreignDoor},
	{Name: "model-key", Value: modelKey},
	{Name: "model-door", Value: modelDoor},
}, func(ctx context.Context, t *kit.T, body func(context.Context, *kit.T)) { body(ctx, t) })

// first starts the phase that the server belongs to, and shows that its own
// agent reaches it.
func first(ctx context.Context, t *kit.T, network string) *kit.Phase {
	phase := t.Start(ctx, subject.Spec{Network: network, Servers: []subject.Server{placed(t, "first")}})
	t.Control("the server's own agent calls it", phase.Agent.Call(ctx, "first", "echo", map[string]any{"text": "own"}), kit.HaveText("own"))
	return phase
}

func placed(t *kit.T, name string) subject.Server {
	s := t.Server(name)
	s.Placement = "host"
	return s
}

// calls is how many requests the servers of the first phase have had.
func calls(t *kit.T) int {
	n := 0
	for _, line := range t.Announced("first") {
		if strings.HasPrefix(line, "request ") {
			n++
		}
	}
	return n
}

// foreignPort goes where the first phase's agent finds the server.
func foreignPort(ctx context.Context, t *kit.T) {
	t.Require(subject.RelayPorts)
	door := first(ctx, t, "").Agent.Env(ctx, "BRIDGE_SERVER_FIRST_URL")
	u, err := url.Parse(door)
	if err != nil || u.Port() == "" {
		t.NotApplicable("the server has no port: its URL is %q", door)
	}
	before := calls(t)
	second := t.Start(ctx, subject.Spec{}).Agent
	t.Attempt("the same port in another phase", second.Dial(ctx, "tcp", u.Host), kit.HaveErrno("ECONNREFUSED"))
	t.FarSide("requests the server had since", calls(t)-before, kit.BeNone())
}

// foreignName asks the second phase's proxy for the server.
func foreignName(ctx context.Context, t *kit.T) {
	t.Require(subject.VirtualNames)
	t.Require(subject.Connect)
	const name = "first.mcp.internal:80"
	phase := first(ctx, t, "")
	t.Control("the name through its own proxy", phase.Agent.Connect(ctx, name), kit.BeStatus(200))
	before := calls(t)
	second := t.Start(ctx, subject.Spec{Servers: []subject.Server{placed(t, "second")}}).Agent
	t.Attempt("the name through the proxy of another phase", second.Connect(ctx, name), kit.BeStatus(403))
	t.FarSide("requests the server had since", calls(t)-before, kit.BeNone())
}

// foreignDoor goes to the first phase's door on the network that both share,
// with no token and with its own.
func foreignDoor(ctx context.Context, t *kit.T) {
	t.Require(subject.Fallback)
	agent := first(ctx, t, "shared").Agent
	door := agent.Env(ctx, "BRIDGE_SERVER_FIRST_URL")
	before := calls(t)

	second := t.Start(ctx, subject.Spec{Network: "shared", Servers: []subject.Server{placed(t, "second")}}).Agent
	t.Control("the second agent calls its own server", second.Call(ctx, "second", "echo", map[string]any{"text": "own"}), kit.HaveText("own"))
	ask := attempt.Attempt{
		Op: attempt.OpHTTP, Method: "POST", URL: door, Via: "direct",
		Headers: map[string]string{"Content-Type": "application/json", "Accept": "application/json, text/event-stream"},
		Data:    []byte(`{"jsonrpc":"2.0","id":1,"method":"ping"}`),
	}
	t.Attempt("the first phase's door without a token", second.Do(ctx, ask), kit.BeStatus(401))
	ask.Headers["Authorization"] = "Bearer " + second.Env(ctx, "BRIDGE_SERVER_SECOND_TOKEN")
	t.Attempt("the first phase's door with the token of another", second.Do(ctx, ask), kit.BeStatus(401))
	t.FarSide("requests the server had since", calls(t)-before, kit.BeNone())
}

// modelKey looks for the key that the bridge adds to requests for the model.
func modelKey(ctx context.Context, t *kit.T) {
	t.Require(subject.ModelRoute)
	model, key := t.HTTP(), "key-"+t.Unique()
	spec := subject.Spec{Model: &subject.Model{URL: model.URL(), Credential: key}, Allow: []subject.Rule{model.Rule()}}
	phase := t.Start(ctx, spec)
	agent, outside := phase.Agent, t.Outside(ctx)
	read := attempt.Attempt{Op: attempt.OpReadFile, Path: phase.SpecFile()}
	t.Control("the key stands in the spec outside", outside.Do(ctx, read).Text, kit.Contain(key))

	for _, file := range []string{"environ", "cmdline"} {
		t.Attempt("processes in the sandbox whose "+file+" has the key", holders(ctx, agent, file, key), kit.BeNone())
	}
	t.Attempt("the spec", agent.Do(ctx, read), kit.HaveErrno("ENOENT", "ENOTDIR", "EACCES", "EPERM"))
}

// modelDoor goes to the first phase's door to the model on the network that both
// share: who comes without its token gets nothing for the key that is behind it.
func modelDoor(ctx context.Context, t *kit.T) {
	t.Require(subject.ModelRoute)
	t.Require(subject.Fallback)
	model := t.Model(llm.Script{})
	phase := t.Start(ctx, subject.Spec{Network: "shared", Model: &subject.Model{URL: model.URL(), Credential: "key-" + t.Unique()}})
	if phase.Fate(ctx) == "exit code 125" {
		t.NotApplicable("the model is not served on a shared network")
	}
	const ask = `{"model":"m","max_tokens":10,"messages":[]}`
	door := phase.Agent.Env(ctx, "BRIDGE_MODEL_URL") + "/v1/messages"
	own := phase.Agent.EndpointAt(door, "direct").With("X-Api-Key", phase.Agent.Env(ctx, "BRIDGE_MODEL_TOKEN"))
	t.Control("its own agent asks the model", own.Post(ctx, ask), kit.BeStatus(200))
	before := len(model.Requests())
	other := t.Start(ctx, subject.Spec{Network: "shared"}).Agent.EndpointAt(door, "direct")
	t.Attempt("another agent without a key", other.Post(ctx, ask), kit.BeStatus(401, 403))
	t.Attempt("another agent with a key of its own", other.With("Authorization", "Bearer own").With("X-Api-Key", "own").Post(ctx, ask), kit.BeStatus(401, 403))
	t.FarSide("questions at the model since", len(model.Requests())-before, kit.BeNone())
}
