package main

import "path/filepath"

// realAgent is a released coding agent and how it is driven without a person.
type realAgent struct {
	name    string
	program string   // below node_modules
	script  bool     // the program is one of Node
	format  string   // of agentconfig
	home    bool     // it looks for its configuration in its home, not where it works
	base    string   // the rest of its configuration
	tool    string   // name of the server's tool as the model sees it
	args    []string // {config} is the file with the servers
	env     map[string]string
}

// prompt does not matter: the model is scripted.
const prompt = "call the echo tool"

// modelURL is the model's route on the proxy port.
const modelURL = "http://127.0.0.1:18080"

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
		base: opencodeBase,
		args: []string{"run", "--format", "json", prompt},
		env:  map[string]string{"OPENCODE_DISABLE_AUTOUPDATE": "1", "OPENCODE_DISABLE_MODELS_FETCH": "1", "OPENCODE_DISABLE_LSP_DOWNLOAD": "1", "OPENCODE_DISABLE_DEFAULT_PLUGINS": "1"},
	},
	{
		name: "Codex 0.171.0", program: "@openai/codex-linux-x64/vendor/x86_64-unknown-linux-musl/bin/codex", format: "codex", home: true, tool: "mcp__conf__echo",
		base: codexBase,
		args: []string{"exec", "--skip-git-repo-check", "--dangerously-bypass-approvals-and-sandbox", "--disable", "plugins", "--json", prompt},
		env:  map[string]string{"FAKE_KEY": "none"},
	},
	{
		name: "Gemini CLI 0.61.0", program: "@google/gemini-cli/bundle/gemini.js", script: true, format: "gemini", home: true, tool: "mcp_conf_echo",
		base: geminiBase,
		args: []string{"--yolo", "-m", "gemini-2.5-flash", "-o", "json", "-p", prompt},
		env:  map[string]string{"GEMINI_API_KEY": "none", "GOOGLE_GEMINI_BASE_URL": modelURL},
	},
}

// The rest of each configuration: a model of its own, nothing fetched.
const (
	opencodeBase = `{"autoupdate": false, "share": "disabled", "snapshot": false, "model": "fake/fake", "small_model": "fake/fake",
	"enabled_providers": ["fake"], "permission": {"*": "allow"},
	"provider": {"fake": {"npm": "@ai-sdk/openai-compatible", "name": "Fake", "options": {"baseURL": "` + modelURL + `/v1", "apiKey": "none"},
	"models": {"fake": {"name": "fake", "tool_call": true, "limit": {"context": 100000, "output": 4096}}}}}}`

	codexBase = `model = "fake"
model_provider = "fake"
approval_policy = "never"
check_for_update_on_startup = false
[analytics]
enabled = false
[model_providers.fake]
name = "Fake"
base_url = "` + modelURL + `/v1"
wire_api = "responses"
env_key = "FAKE_KEY"
supports_websockets = false

`

	geminiBase = `{"security": {"auth": {"selectedType": "gemini-api-key"}, "folderTrust": {"enabled": false}}, "privacy": {"usageStatisticsEnabled": false}}`
)

// command is the program with its arguments.
func (a realAgent) command(tools tools) (path string, args []string) {
	program := filepath.Join(tools.build, "npm/agents/node_modules", a.program)
	if a.script {
		return tools.node, []string{program}
	}
	return program, nil
}
