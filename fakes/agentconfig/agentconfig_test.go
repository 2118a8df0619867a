package agentconfig_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"bridgecheck/fakes/agentconfig"
)

var update = flag.Bool("update", false, "write the golden files anew")

// doors are those of a bridge to one server, as an agent may be told of them.
var doors = []agentconfig.Server{
	{Name: "loopback", URL: "http://127.0.0.1:18081/mcp"},
	{Name: "proxy", URL: "http://jira.mcp.internal/mcp"},
	{Name: "path", URL: "http://127.0.0.1:18080/mcp/jira"},
	{Name: "shared", URL: "http://127.0.0.1:40123/mcp", TokenEnv: "BRIDGE_SERVER_JIRA_TOKEN"},
	{Name: "socket", Command: []string{"refbridge", "stdio", "--socket", "/mcp/jira/mcp", "jira"}},
	{Name: "shim", Command: []string{"refbridge", "stdio", "jira"}, EnvFrom: []string{"BRIDGE_SERVER_JIRA_SOCKET"}},
	{Name: "odd_one", Command: []string{"/opt/a b/\"x\\y\""}, Env: map[string]string{"B": "<&>\n\x7f", "A": "é"}},
}

func TestGolden(t *testing.T) {
	for word, f := range agentconfig.Formats {
		t.Run(word, func(t *testing.T) {
			servers := doors
			if word != "codex" {
				servers = append(slices.Clip(servers), agentconfig.Server{Name: "sse", URL: "http://127.0.0.1:18081/sse", SSE: true})
			}
			got, err := f.Write(servers...)
			if err != nil {
				t.Fatal(err)
			}
			golden := filepath.Join("testdata", word+filepath.Ext(f.Path))
			if *update {
				if err := os.WriteFile(golden, got, 0o600); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(golden)
			if err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(got, want) {
				t.Errorf("%s differs from %s (-update writes it anew):\n%s", f.Agent, golden, got)
			}
			if filepath.Ext(f.Path) == ".json" && !json.Valid(got) {
				t.Errorf("not JSON: %s", got)
			}
		})
	}
}

func TestNoServers(t *testing.T) {
	for word, want := range map[string]string{"claude": "{\n  \"mcpServers\": {}\n}\n", "codex": ""} {
		if got, err := agentconfig.Formats[word].Write(); err != nil || string(got) != want {
			t.Errorf("%s: %q, %v", word, got, err)
		}
	}
}

func TestServersThatCannotBeWritten(t *testing.T) {
	const url = "http://127.0.0.1:1/mcp"
	for title, c := range map[string]struct {
		servers []agentconfig.Server
		says    string
		door    bool
	}{
		"no name":             {[]agentconfig.Server{{URL: url}}, "letters, digits", false},
		"dot in the name":     {[]agentconfig.Server{{Name: "a.b", URL: url}}, "letters, digits", false},
		"neither":             {[]agentconfig.Server{{Name: "a"}}, "either", false},
		"both":                {[]agentconfig.Server{{Name: "a", URL: url, Command: []string{"x"}}}, "either", false},
		"Unix socket":         {[]agentconfig.Server{{Name: "a", URL: "unix:///run/a.sock"}}, "shim", true},
		"SSE":                 {[]agentconfig.Server{{Name: "a", URL: url, SSE: true}}, "streamable HTTP", true},
		"token as the name":   {[]agentconfig.Server{{Name: "a", URL: url, TokenEnv: "secret-token"}}, "variable", false},
		"name with a sign":    {[]agentconfig.Server{{Name: "a", Command: []string{"x"}, EnvFrom: []string{"A=b"}}}, "variables", false},
		"token for a command": {[]agentconfig.Server{{Name: "a", Command: []string{"x"}, TokenEnv: "T"}}, "neither", false},
		"twice":               {[]agentconfig.Server{{Name: "a", URL: url}, {Name: "b", URL: url}, {Name: "a", URL: url}}, "twice", false},
	} {
		_, err := agentconfig.Formats["codex"].Write(c.servers...)
		if err == nil || !strings.Contains(err.Error(), c.says) || errors.Is(err, agentconfig.ErrNoDoor) != c.door {
			t.Errorf("%s: %v", title, err)
		}
	}
}
