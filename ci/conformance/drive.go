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

// credential is what the bridge gives the model; no agent knows it.
const credential = "bridge-credential"

// completing writes into the configuration what the environment tells, gives the
// model's key to whichever agent it is, and becomes the agent.
const completing = `sed -i -e "s#` + unknownURL + `#$BRIDGE_SERVER_CONF_URL#" -e "s#` + modelURL + `#$BRIDGE_MODEL_URL#" \
	-e "s#\"none\"#\"$BRIDGE_MODEL_TOKEN\"#" "$0" || exit
export ANTHROPIC_BASE_URL="$BRIDGE_MODEL_URL" ANTHROPIC_API_KEY="$BRIDGE_MODEL_TOKEN"
export FAKE_KEY="$BRIDGE_MODEL_TOKEN" GEMINI_API_KEY="$BRIDGE_MODEL_TOKEN" GOOGLE_GEMINI_BASE_URL="$BRIDGE_MODEL_URL"
exec "$@"`

// drive runs the agent once; nil says that its model heard the tool's answer, or
// did not where it must not.
func (a realAgent) drive(ctx context.Context, tools tools, dir string, w way, t *tried) error {
	ctx, cancel := context.WithTimeout(ctx, 2*time.Minute)
	defer cancel()
	home, work := filepath.Join(dir, "home"), filepath.Join(dir, "work")
	if err := errors.Join(os.RemoveAll(dir), os.MkdirAll(home, 0o700), os.MkdirAll(work, 0o700)); err != nil {
		return err
	}
	config, err := a.configure(home, work, w)
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
	s.Model = &modelSpec{URL: "http://" + model.Addr().String(), Credential: credential}
	switch w.name {
	case "stdio":
		s.Agent.Transports = []string{w.name}
	case "sse":
		s.Servers[0].Transports = []string{"http", w.name}
	case shared:
		s.Network = shared
		s.Agent.Args = append([]string{"-c", completing, config, s.Agent.Path}, s.Agent.Args...)
		s.Agent.Path = "/bin/sh"
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
	t.Model, t.Key = keys(model.Requests())
	return judge(out.String(), nonce, w.name == wrongShape, runErr, filepath.Join(dir, "output.txt"))
}

// judge reads what the agent has printed.
func judge(out, nonce string, wrong bool, runErr error, path string) error {
	heard := strings.Contains(out, "FINAL: tool said") && strings.Contains(out, nonce)
	switch {
	case wrong && heard:
		return fmt.Errorf("the tool was called although the configuration is not the agent's; see %s", path)
	case !wrong && !heard:
		return fmt.Errorf("the tool's answer did not come back (%w); see %s", errors.Join(runErr, errNoAnswer), path)
	}
	return nil
}

var errNoAnswer = errors.New("no FINAL line")

// keys counts the requests and tells the credentials they came with.
func keys(all []llm.Request) (n int, with string) {
	seen := map[string]bool{}
	for _, r := range all {
		for _, name := range []string{"Authorization", "X-Api-Key", "X-Goog-Api-Key"} {
			if v := strings.TrimPrefix(r.Header.Get(name), "Bearer "); v != "" && !seen[v] {
				seen[v] = true
				with = strings.TrimSpace(with + " " + v)
			}
		}
	}
	return len(all), with
}

func (a realAgent) spec(tools tools, dir, config string) spec {
	path, args := a.command(tools)
	for _, arg := range a.args {
		args = append(args, strings.ReplaceAll(arg, "{config}", config))
	}
	env := map[string]string{"HOME": filepath.Join(dir, "home")}
	maps.Copy(env, a.env)
	behind := conf(tools, "")
	behind.Command = tools.fake()[0]
	return spec{
		Servers: []server{behind},
		Agent:   agent{Path: path, Args: args, Env: env, Cwd: filepath.Join(dir, "work")},
		Paths:   paths{RO: []string{filepath.Join(tools.build, "npm"), filepath.Dir(tools.subject)}, RW: []string{dir}},
	}
}

// configure writes the file with the server where the agent looks for it.
func (a realAgent) configure(home, work string, w way) (path string, err error) {
	format := agentconfig.Formats[a.format]
	data, err := format.Write(w.server)
	if err != nil {
		return "", err
	}
	if w.name == wrongShape {
		// The key of VS Code's mcp.json, which none of them reads.
		data = []byte(strings.NewReplacer(`"mcpServers"`, `"servers"`, `"mcp"`, `"servers"`, "[mcp_servers", "[servers").Replace(string(data)))
	}
	if data, err = a.merge(data); err != nil {
		return "", err
	}
	if path = filepath.Join(work, format.Path); a.home {
		path = filepath.Join(home, format.Path)
	}
	return path, errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, data, 0o600))
}

// merge adds the servers to the rest of the configuration.
func (a realAgent) merge(servers []byte) ([]byte, error) {
	switch {
	case a.base == "":
		return servers, nil
	case !json.Valid(servers): // TOML
		return append([]byte(a.base), servers...), nil
	}
	var all map[string]any
	if err := errors.Join(json.Unmarshal([]byte(a.base), &all), json.Unmarshal(servers, &all)); err != nil {
		return nil, err
	}
	return json.Marshal(all)
}
