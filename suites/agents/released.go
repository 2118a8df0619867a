package agents

import (
	"context"
	"strings"

	"bridgecheck/suites/catalog"
	"bridgecheck/suites/kit"
	"bridgecheck/suites/subject"
)

// needed by released agents: their servers are on the host, and so is their model.
var agentNeeds = []subject.Capability{subject.HostServers, subject.RelayPorts, subject.ModelRoute}

var onRequest = []catalog.HostFact{catalog.HostUserNS, catalog.HostTools}

// tried is what came of one released agent or server.
type tried struct {
	Name, By, Error, Key string
	Model                int
}

// credential is what the spec gives the model.
const credential = "bridge-credential"

var formats = []string{"claude", "opencode", "codex", "gemini"}

// drive has one agent, or one server, do its work.
func drive(ctx context.Context, t *kit.T, only string) tried {
	var all []tried
	t.Released(ctx, []string{"conformance", "gateways", "agents"}, "agents.json", &all, "-only", only, "agents")
	if len(all) != 1 {
		t.Fatal("%q chooses %d, not 1", only, len(all))
	}
	return all[0]
}

var _ = kit.Table(catalog.Case{
	ID:     "AGT-003",
	Title:  "gives released agents a configuration that they accept as it is",
	Must:   "The configuration that is written for Claude Code, Opencode, Codex and Gemini CLI MUST be accepted by them as they are released.",
	Level:  catalog.House,
	Clause: "10.3",
	Needs:  agentNeeds,
	Host:   onRequest,
	Why:    "An entry of the wrong shape is dropped without a word, and the agent looks as if it had no servers. The agents are 1.1 GB of npm, so that they are run on request.",
}, perAgent(), func(ctx context.Context, t *kit.T, format string) {
	wrong := drive(ctx, t, "agent "+format+" wrong-shape")
	t.Control("servers under a key that is not the agent's are nobody's", wrong.Error, kit.Be(""))
	right := drive(ctx, t, "agent "+format+" loopback")
	t.Attempt("those under its own are called", right.Error, kit.Be(""))
	t.FarSide("requests that its model has had", right.Model, kit.Differ(0))
})

func perAgent() (rows []kit.Row[string]) {
	for _, format := range formats {
		rows = append(rows, kit.Row[string]{Name: format, Value: format})
	}
	return rows
}

var _ = kit.Table(catalog.Case{
	ID:     "AGT-004",
	Title:  "lets released agents call a tool of a server on the host, by every door",
	Must:   "Claude Code, Opencode, Codex and Gemini CLI, driven by a scripted model, MUST be able to call a tool of a server on the host from inside the sandbox by every door that they have a transport for; the model MUST see the credential of the spec and no other.",
	Level:  catalog.House,
	Clause: "10.4",
	Needs:  append([]subject.Capability{subject.VirtualNames, subject.PathRoutes, subject.SSE, subject.UnixDoor}, agentNeeds...),
	Host:   onRequest,
	Why:    "It is what the bridge is for. Imitations of clients are right only as long as the clients do not change.",
}, perDoor(), func(ctx context.Context, t *kit.T, only string) {
	if strings.HasSuffix(only, " shared") { // with the token of a door that others could reach
		t.Require(subject.Fallback)
	}
	got := drive(ctx, t, only)
	t.Control("the agent has asked its model", got.Model, kit.Differ(0))
	t.Attempt("the answer of the tool has come back", got.Error, kit.Be(""))
	t.FarSide("credentials that the model has seen", got.Key, kit.Be(credential))
})

func perDoor() (rows []kit.Row[string]) {
	for _, format := range formats {
		for _, door := range []string{"loopback", "proxy", "path", "sse", "stdio", "shared"} {
			if format != "codex" || door != "sse" { // it has no such transport
				rows = append(rows, kit.Row[string]{Name: format + "-" + door, Value: "agent " + format + " " + door})
			}
		}
	}
	return rows
}

var _ = kit.Table(catalog.Case{
	ID:     "AGT-005",
	Title:  "lets released MCP servers work as they do without it",
	Must:   "The servers everything, filesystem and memory of npm MUST give the same list of tools and the same answer to a call through the bridge as on their own stdio.",
	Level:  catalog.House,
	Clause: "10.5",
	Needs:  []subject.Capability{subject.HostServers, subject.RelayPorts},
	Host:   onRequest,
	Why:    "Servers that people use are built on SDKs with habits of their own.",
}, []kit.Row[string]{
	{Name: "everything", Value: "server-everything"},
	{Name: "filesystem", Value: "server-filesystem"},
	{Name: "memory", Value: "server-memory"},
}, func(ctx context.Context, t *kit.T, name string) {
	got := drive(ctx, t, name)
	t.Control("it works on its own stdio", strings.HasPrefix(got.Error, "direct: "), kit.Be(false))
	t.Attempt("and through the bridge", got.Error, kit.Be(""))
})
