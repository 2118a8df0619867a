package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"time"

	"bridgecheck/fakes/agentconfig"
	"bridgecheck/fakes/llm"
)

// agentsVerb drives real agents in the sandbox.
const agentsVerb = "agents"

// realAgent is a released coding agent and how it is driven without a person.
type realAgent struct {
	name    string
	program string   // below node_modules
	format  string   // of agentconfig
	tool    string   // name of the server's tool as the model sees it
	args    []string // {config} is the file with the servers
	env     map[string]string
}

// prompt does not matter: the model is scripted.
const prompt = "call the echo tool"

var realAgents = []realAgent{
	{
		name: "Claude Code 2.1.332", program: "@anthropic-ai/claude-code-linux-x64/claude", format: "claude", tool: "mcp__conf__echo",
		args: []string{"-p", prompt, "--mcp-config", "{config}", "--strict-mcp-config", "--allowedTools", "mcp__conf__echo", "--output-format", "stream-json", "--verbose"},
		env: map[string]string{
			"ANTHROPIC_BASE_URL": modelURL, "ANTHROPIC_API_KEY": "none", "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
			"DISABLE_AUTOUPDATER": "1", "DISABLE_TELEMETRY": "1", "DISABLE_ERROR_REPORTING": "1", "ENABLE_TOOL_SEARCH": "false",
		},
	},
	{
		name: "Opencode 1.18.33", program: "opencode-linux-x64/bin/opencode", format: "opencode", tool: "conf_echo",
		args: []string{"run", "--format", "json", prompt},
		env:  map[string]string{"OPENCODE_DISABLE_AUTOUPDATE": "1", "OPENCODE_DISABLE_MODELS_FETCH": "1", "OPENCODE_DISABLE_LSP_DOWNLOAD": "1", "OPENCODE_DISABLE_DEFAULT_PLUGINS": "1"},
	},
}

// modelURL is the model's route on the proxy port.
const modelURL = "http://127.0.0.1:18080"

// provider is the rest of opencode.json: a model of its own, nothing fetched.
const provider = `{"autoupdate": false, "share": "disabled", "snapshot": false, "model": "fake/fake", "small_model": "fake/fake",
	"enabled_providers": ["fake"], "permission": {"*": "allow"},
	"provider": {"fake": {"npm": "@ai-sdk/openai-compatible", "name": "Fake", "options": {"baseURL": "` + modelURL + `/v1", "apiKey": "none"},
	"models": {"fake": {"name": "fake", "tool_call": true, "limit": {"context": 100000, "output": 4096}}}}}}`

// agentDoors are what each agent is configured with, one at a time. No agent takes
// a Unix socket: refbridge carries its stdio over it.
func agentDoors(tools tools) (servers []agentconfig.Server, titles []string) {
	for _, d := range doors {
		servers, titles = append(servers, agentconfig.Server{Name: "conf", URL: d.url}), append(titles, d.name)
	}
	return append(servers,
			agentconfig.Server{Name: "conf", URL: strings.TrimSuffix(doors[0].url, "/mcp") + "/sse", SSE: true},
			agentconfig.Server{Name: "conf", Command: []string{tools.refbridge, "stdio", "conf"}}),
		append(titles, "sse", "stdio")
}

// driveAgents has each agent call a tool of a host server through each door.
func driveAgents(ctx context.Context, tools tools, results string) (red bool, err error) {
	var b strings.Builder
	servers, titles := agentDoors(tools)
	fmt.Fprintf(&b, "| agent | %s |\n|---|%s\n", strings.Join(titles, " | "), strings.Repeat("---|", len(titles)))
	for _, a := range realAgents {
		fmt.Fprintf(&b, "| %s |", a.name)
		for i, server := range servers {
			dir := filepath.Join(results, "agents", a.format+"-"+titles[i])
			begin := time.Now()
			err := a.drive(ctx, tools, dir, server, titles[i])
			fmt.Fprintf(os.Stderr, "%s by %s: %v\n", a.name, titles[i], err)
			if err != nil {
				red = true
				fmt.Fprintf(&b, " FAILED: %v |", err)
				continue
			}
			fmt.Fprintf(&b, " called in %.1f s |", time.Since(begin).Seconds())
		}
		fmt.Fprintln(&b)
	}
	real, worse, err := tryServers(ctx, tools, results)
	if err != nil {
		return false, err
	}
	red = red || worse
	fmt.Fprint(&b, "\n", real)
	fmt.Print(b.String())
	return red, os.WriteFile(filepath.Join(results, "agents.md"), []byte(b.String()), 0o600)
}

// drive runs the agent once; nil says that its model heard the tool's answer.
func (a realAgent) drive(ctx context.Context, tools tools, dir string, server agentconfig.Server, transport string) error {
	ctx, cancel := context.WithTimeout(ctx, 2*time.Minute)
	defer cancel()
	home, work := filepath.Join(dir, "home"), filepath.Join(dir, "work")
	if err := errors.Join(os.RemoveAll(dir), os.MkdirAll(home, 0o700), os.MkdirAll(work, 0o700)); err != nil {
		return err
	}
	config, err := a.configure(work, server)
	if err != nil {
		return err
	}
	nonce := fmt.Sprintf("heard-%d", time.Now().UnixNano())
	model, err := llm.Start("127.0.0.1:0", llm.Script{Tool: a.tool, Input: map[string]any{"text": nonce}})
	if err != nil {
		return err
	}
	defer model.Close()
	s := a.spec(tools, dir, config)
	s.Model = &modelSpec{URL: "http://" + model.Addr().String(), Credential: "bridge-credential"}
	switch transport {
	case "stdio":
		s.Agent.Transports = []string{transport}
	case "sse":
		s.Servers[0].Transports = []string{"http", transport}
	}
	cmd, err := bridge(ctx, tools, dir, s)
	if err != nil {
		return err
	}
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	runErr := cmd.Run()
	if err := os.WriteFile(filepath.Join(dir, "output.txt"), out.Bytes(), 0o600); err != nil {
		return err
	}
	if !strings.Contains(out.String(), "FINAL: tool said "+nonce) {
		return fmt.Errorf("the tool's answer did not come back (%w); see %s", errors.Join(runErr, errNoAnswer), filepath.Join(dir, "output.txt"))
	}
	return nil
}

var errNoAnswer = errors.New("no FINAL line")

func (a realAgent) spec(tools tools, dir, config string) spec {
	args := make([]string, len(a.args))
	for i, arg := range a.args {
		args[i] = strings.ReplaceAll(arg, "{config}", config)
	}
	env := maps.Clone(a.env)
	env["HOME"] = filepath.Join(dir, "home")
	behind := conf(tools, "")
	behind.Command = tools.fake()[0]
	modules := filepath.Join(tools.build, "npm/agents/node_modules")
	return spec{
		Servers: []server{behind},
		Agent:   agent{Path: filepath.Join(modules, a.program), Args: args, Env: env, Cwd: filepath.Join(dir, "work")},
		Paths:   paths{RO: []string{modules, filepath.Dir(tools.refbridge)}, RW: []string{dir}},
	}
}

// configure writes the file with the server where the agent looks for it.
func (a realAgent) configure(work string, server agentconfig.Server) (string, error) {
	format := agentconfig.Formats[a.format]
	data, err := format.Write(server)
	if err != nil {
		return "", err
	}
	if a.format == "opencode" {
		var all map[string]any
		if err := errors.Join(json.Unmarshal([]byte(provider), &all), json.Unmarshal(data, &all)); err != nil {
			return "", err
		}
		if data, err = json.Marshal(all); err != nil {
			return "", err
		}
	}
	path := filepath.Join(work, format.Path)
	return path, os.WriteFile(path, data, 0o600)
}
