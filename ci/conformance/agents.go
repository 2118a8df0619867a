package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"bridgecheck/fakes/agentconfig"
)

// agentsVerb drives real agents in the sandbox.
const agentsVerb = "agents"

// tried is one real agent by one door, or one real server, and what came of it.
type tried struct {
	Name string `json:"name"`
	// By is the door, wrongShape, or for a server what was called.
	By string `json:"by"`
	// Error is empty where it worked.
	Error   string  `json:"error,omitempty"`
	Seconds float64 `json:"seconds"`
	// Model are the requests that reached the model's API, and Key with what
	// credential; zero for a server.
	Model int    `json:"model,omitempty"`
	Key   string `json:"key,omitempty"`
}

// way is how an agent is told of the server.
type way struct {
	name   string
	server agentconfig.Server
}

// shared is the door of a shared network, which others on the host can reach: a
// port that is chosen at the start, with a token.
const shared = "shared"

// unknownURL stands in a configuration for the door that is not known yet.
const unknownURL = "http://127.0.0.1:1/mcp"

// wrongShape is the control of the configuration: under another key than the
// agent's own the same servers must be nobody's.
const wrongShape = "wrong-shape"

// ways are what each agent is configured with, one at a time. No agent takes a
// Unix socket: refbridge carries its stdio over it.
func ways(tools tools) (all []way) {
	for _, d := range doors {
		all = append(all, way{d.name, agentconfig.Server{Name: "conf", URL: d.url}})
	}
	return append(all,
		way{"sse", agentconfig.Server{Name: "conf", URL: strings.TrimSuffix(doors[0].url, "/mcp") + "/sse", SSE: true}},
		way{"stdio", agentconfig.Server{Name: "conf", Command: []string{tools.subject, "stdio", "conf"}, EnvFrom: []string{"BRIDGE_SERVER_CONF_SOCKET"}}},
		way{shared, agentconfig.Server{Name: "conf", URL: unknownURL, TokenEnv: "BRIDGE_SERVER_CONF_TOKEN"}},
		way{wrongShape, agentconfig.Server{Name: "conf", URL: doors[0].url}})
}

// driveAgents has each agent call a tool of a host server by each door, and each
// real server answer. It is red where something does not work; only chooses what
// has this text in "agent FORMAT DOOR" or "server NAME".
func driveAgents(ctx context.Context, tools tools, results, only string) (red bool, err error) {
	var agents, servers []tried
	for _, a := range realAgents {
		for _, w := range ways(tools) {
			if !strings.Contains("agent "+a.format+" "+w.name, only) || !a.can(w) {
				continue
			}
			t := a.try(ctx, tools, results, w)
			fmt.Fprintf(os.Stderr, "%s by %s: %s\n", t.Name, t.By, t.verdict())
			agents = append(agents, t)
		}
	}
	for i, s := range realServers {
		if strings.Contains("server "+s.name, only) {
			servers = append(servers, s.try(ctx, tools, filepath.Join(results, "servers", fmt.Sprint(i))))
		}
	}
	all := slices.Concat(agents, servers)
	if len(all) == 0 {
		return false, fmt.Errorf("no agent and no server has %q in its name", only)
	}
	text := agentTable(tools, agents) + serverTable(servers)
	fmt.Print(text)
	if err := writeJSON(filepath.Join(results, "agents.json"), all); err != nil {
		return false, err
	}
	return slices.ContainsFunc(all, func(t tried) bool { return t.Error != "" }),
		os.WriteFile(filepath.Join(results, "agents.md"), []byte(text), 0o600)
}

func writeJSON(path string, v any) error {
	data, err := json.MarshalIndent(v, "", " ")
	if err != nil {
		return err
	}
	return os.WriteFile(path, append(data, '\n'), 0o600)
}

// can tells whether the agent has a transport for it.
func (a realAgent) can(w way) bool {
	_, err := agentconfig.Formats[a.format].Write(w.server)
	return err == nil
}

func (a realAgent) try(ctx context.Context, tools tools, results string, w way) tried {
	t := tried{Name: a.name, By: w.name}
	begin := time.Now()
	if err := a.drive(ctx, tools, filepath.Join(results, "agents", a.format+"-"+w.name), w, &t); err != nil {
		t.Error = err.Error()
	}
	t.Seconds = time.Since(begin).Seconds()
	return t
}

func (t tried) verdict() string {
	switch {
	case t.Error != "":
		return "FAILED: " + strings.ReplaceAll(t.Error, "\n", " ")
	case t.By == wrongShape:
		return "not called, as it must be"
	}
	return fmt.Sprintf("called in %.1f s", t.Seconds)
}

// agentTable has a line for each agent and a column for each way.
func agentTable(tools tools, all []tried) string {
	var b strings.Builder
	fmt.Fprint(&b, "| agent |")
	for _, w := range ways(tools) {
		fmt.Fprintf(&b, " %s |", w.name)
	}
	fmt.Fprintf(&b, "\n|---|%s\n", strings.Repeat("---|", len(ways(tools))))
	for _, a := range realAgents {
		fmt.Fprintf(&b, "| %s |", a.name)
		for _, w := range ways(tools) {
			cell := "not tried"
			if !a.can(w) {
				cell = "has no such transport"
			}
			for _, t := range all {
				if t.Name == a.name && t.By == w.name {
					cell = t.verdict()
				}
			}
			fmt.Fprintf(&b, " %s |", cell)
		}
		fmt.Fprintln(&b)
	}
	return b.String()
}
