package main

import (
	"net/http"
	"os"
	"strings"
	"testing"

	"bridgecheck/fakes/agentconfig"
	"bridgecheck/fakes/llm"
)

// Each agent's file has its servers under its own key, and the control under one
// that is nobody's.
func TestConfigure(t *testing.T) {
	for _, a := range realAgents {
		key := map[string]string{"claude": `"mcpServers"`, "opencode": `"mcp"`, "codex": "[mcp_servers.conf]", "gemini": `"mcpServers"`}[a.format]
		for _, w := range ways(tools{subject: "/bin/bridge"}) {
			if !a.can(w) {
				if w.name != "sse" {
					t.Errorf("%s cannot be reached by %s", a.name, w.name)
				}
				continue
			}
			home, work := t.TempDir(), t.TempDir()
			path, err := a.configure(home, work, w)
			if err != nil {
				t.Fatal(err)
			}
			data, err := os.ReadFile(path)
			if err != nil || strings.HasPrefix(path, home) != a.home {
				t.Fatal(path, err)
			}
			if has := strings.Contains(string(data), key); has != (w.name != wrongShape) {
				t.Errorf("%s by %s: has its key: %v in %s", a.name, w.name, has, data)
			}
			if strings.Contains(a.base, modelURL) && !strings.Contains(string(data), modelURL) {
				t.Errorf("%s by %s: no model in %s", a.name, w.name, data)
			}
		}
	}
	if (realAgent{format: "codex"}).can(way{"sse", agentconfig.Server{Name: "conf", URL: doors[0].url, SSE: true}}) {
		t.Error("Codex has no legacy transport")
	}
}

func TestJudge(t *testing.T) {
	const heard = `{"text":"FINAL: tool said heard-1"}`
	for title, c := range map[string]struct {
		out   string
		wrong bool
		ok    bool
	}{
		"heard":                   {heard, false, true},
		"another answer":          {`FINAL: tool said heard-2`, false, false},
		"no answer":               {"FINAL: there is no tool", false, false},
		"wrong shape":             {"FINAL: there is no tool", true, true},
		"wrong shape, yet called": {heard, true, false},
	} {
		if err := judge(c.out, "heard-1", c.wrong, nil, "output.txt"); (err == nil) != c.ok {
			t.Errorf("%s: %v", title, err)
		}
	}
}

func TestKeys(t *testing.T) {
	n, with := keys([]llm.Request{
		{Header: http.Header{"Authorization": {"Bearer a"}}},
		{Header: http.Header{"X-Api-Key": {"a"}}},
		{Header: http.Header{"X-Goog-Api-Key": {"b"}}},
		{Header: http.Header{}},
	})
	if n != 4 || with != "a b" {
		t.Errorf("%d requests with %q", n, with)
	}
}
