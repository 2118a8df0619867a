package adapter

import (
	"context"
	"fmt"
	"os"

	"bridgecheck/fakes/mcp"
	"bridgecheck/suites/catalog"
	"bridgecheck/suites/kit"
	"bridgecheck/suites/subject"
)

// visit is one client that comes, and goes without a word.
type visit struct {
	clients int
	// cancelled tells that the server is to hear of each, having no session to end.
	cancelled bool
	come      func(ctx context.Context, t *kit.T, a *kit.Agent, endpoint kit.Endpoint)
}

var _ = kit.Table(catalog.Case{
	ID:     "MCP-011",
	Title:  "frees what belonged to clients that have vanished",
	Must:   "A client that vanishes, with a stream open or in mid-call, MUST free its session and its process; processes and descriptors MUST NOT grow with the number of such clients.",
	Level:  catalog.Interoperability,
	Clause: "8.11",
	Needs:  []subject.Capability{subject.HostServers, subject.RelayPorts},
	Host:   []catalog.HostFact{catalog.HostUserNS},
	Faults: []string{"vanished-session-kept", "vanished-client-unnoticed", "vanished-call-not-cancelled"},
	Why:    "Gateways have kept one process a lost client until the host ran out of memory, while their health check was green.",
}, []kit.Row[visit]{
	{Name: "open-stream", Value: visit{50, false, dropStream}},
	{Name: "mid-call", Value: visit{50, false, dropCall}},
	{Name: "stateless", Value: visit{200, true, dropStateless}},
}, func(ctx context.Context, t *kit.T, v visit) {
	spec, await := host(t.Server("jira")), t.Await
	if t.Subject().Claims(subject.IdleConfig) {
		spec.Timeouts = &subject.Timeouts{IdleMS: 200}
		await = func(ctx context.Context, what string, f func() bool) { soon(ctx, t, what, f) }
	}
	phase := t.Start(ctx, spec)
	endpoint := phase.Agent.Endpoint(ctx, "jira")
	t.Control("a client that stays", loopback.call(ctx, phase, "jira", legacy, "echo", map[string]any{"text": "here"}), kit.HaveText("here"))
	v.come(ctx, t, phase.Agent, endpoint)
	var settled int
	await(ctx, "processes settle after the first", func() bool {
		settled = len(processes(t))
		return settled <= 2
	})
	files := descriptors(t, phase.PID)

	for range v.clients {
		v.come(ctx, t, phase.Agent, endpoint)
	}
	await(ctx, fmt.Sprintf("processes are as few as before %d clients", v.clients), func() bool {
		return len(processes(t)) <= settled
	})
	soon(ctx, t, "descriptors of the subject are as few as before", func() bool { return descriptors(t, phase.PID) <= files+2 })
	if v.cancelled {
		soon(ctx, t, "the server hears that each call is cancelled", func() bool {
			return count(t.Announced("jira"), "notification notifications/cancelled") == v.clients+1
		})
	}
	t.Attempt("a new client is served", loopback.call(ctx, phase, "jira", legacy, "echo", map[string]any{"text": "again"}), kit.HaveText("again"))
	t.FarSide("calls that the server had of clients that stayed", count(t.Announced("jira"), "request tools/call"), kit.Be(2))
})

func dropStream(ctx context.Context, t *kit.T, a *kit.Agent, endpoint kit.Endpoint) {
	session := endpoint.Session(ctx, legacy, "{}")
	if opened := session.Open(ctx, "stream", "GET", ""); opened.Status != 200 {
		t.Attempt("the stream opens", opened, kit.BeStatus(200))
	}
	a.Close(ctx, "stream")
}

func dropCall(ctx context.Context, t *kit.T, a *kit.Agent, endpoint kit.Endpoint) {
	session := endpoint.Session(ctx, legacy, "{}")
	said := `{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":"begun"}}`
	begun := session.Open(ctx, "call", "POST", scripted("1", mcp.Script{Steps: []mcp.Step{{Say: said}, {Hear: "never"}}}))
	if begun.Status != 200 {
		t.Attempt("the answer begins", begun, kit.BeStatus(200))
	}
	a.Close(ctx, "call")
}

func dropStateless(ctx context.Context, t *kit.T, a *kit.Agent, endpoint kit.Endpoint) {
	said := `{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":$TOKEN,"progress":1}}`
	script := mcp.Script{Steps: []mcp.Step{{Say: said}, {Hear: "never"}}}
	begun := stateless(endpoint, mcp.ScriptMethod).Open(ctx, "call", "POST", modernScripted("1", script, `"progressToken":"t"`))
	if begun.Status != 200 {
		t.Attempt("the answer begins", begun, kit.BeStatus(200))
	}
	a.Close(ctx, "call")
}

// descriptors is how many the process has open.
func descriptors(t *kit.T, pid int) int {
	entries, err := os.ReadDir(fmt.Sprintf("/proc/%d/fd", pid))
	if err != nil {
		t.Fatal("look at the subject: %v", err)
	}
	return len(entries)
}
