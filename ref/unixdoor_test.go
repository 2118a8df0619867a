package ref_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"bridgecheck/ref"
	"bridgecheck/ref/config"
	"bridgecheck/ref/event"
)

// answers are the lines of an agent that asks, after the phase.
func answers(t *testing.T, spec config.Spec, asks ...string) ([]string, run) {
	t.Helper()
	transports := spec.Agent
	spec.Agent = agent(t, append([]string{"ask"}, asks...)...)
	if transports != nil {
		spec.Agent.Transports = transports.Transports
	}
	r := phase(context.Background(), t, spec)
	wantExit(t, r, ref.Exit{Reason: ref.ReasonAgent})
	return strings.Split(strings.TrimSuffix(r.out, "\n"), "\n"), r
}

func want(t *testing.T, asks, got, wanted []string) {
	t.Helper()
	if !slices.Equal(got, wanted) {
		t.Errorf("answers to %q are %q, want %q", asks, got, wanted)
	}
}

// MCP-001: legacy SSE at every door that is reached by network, each to its own server.
func TestSSE(t *testing.T) {
	t.Parallel()
	needNamespaces(t)
	jira, hub, plain := server(t, "jira", "one"), server(t, "git-hub", "two"), server(t, "plain", "three")
	plain.Transports = []string{"http"}
	asks := []string{
		"sse http://127.0.0.1:18081/sse", "sse http://jira.mcp.internal/sse", "sse http://127.0.0.1:18080/mcp/jira/sse",
		"sse http://127.0.0.1:18082/sse", "sse http://127.0.0.1:18080/mcp/git-hub/sse", "sse http://127.0.0.1:18080/tickets/sse",
		"sse http://127.0.0.1:18083/sse", "sse http://plain.mcp.internal/sse", "sse http://127.0.0.1:18080/mcp/plain/sse",
	}
	got, _ := answers(t, config.Spec{
		Servers: []config.Server{jira, hub, plain}, Routes: []config.Route{{Prefix: "/tickets", Server: "jira"}},
	}, asks...)
	want(t, asks, got, []string{"one", "one", "one", "two", "two", "one", "404", "404", "404"})
}

// MCP-001, ESC-012, ESC-017: a server's socket, and nothing else of the runtime
// directory; it cannot be replaced.
func TestUnixDoor(t *testing.T) {
	t.Parallel()
	needNamespaces(t)
	for name, spec := range map[string]config.Spec{
		"isolated": {}, "strict": {Seccomp: "strict"}, "shared/userns": {Network: "shared"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			spec.Agent = &config.Agent{Transports: []string{"unix"}}
			spec.Servers = []config.Server{server(t, "jira", "one"), server(t, "git-hub", "two")}
			asks := []string{
				"unix BRIDGE_SERVER_JIRA_SOCKET", "unix BRIDGE_SERVER_GIT_HUB_SOCKET", "tamper BRIDGE_SERVER_JIRA_SOCKET",
				"list BRIDGE_SERVER_JIRA_SOCKET", "unix BRIDGE_SERVER_JIRA_SOCKET",
			}
			got, r := answers(t, spec, asks...)
			want(t, asks, got, []string{"200 one", "200 two", "cannot", "[git-hub jira] <nil>", "200 one"})
			doors := r.of("ready")[0].Doors
			if !slices.ContainsFunc(doors, func(d event.Door) bool {
				return d.Server == "jira" && d.Kind == "unix" && d.Transport == "http" && strings.HasPrefix(d.URL, "unix:/")
			}) {
				t.Errorf("doors %+v: no socket", doors)
			}
		})
	}
}

// The modes of the socket and its directory, seen while the agent runs.
func TestUnixDoorModes(t *testing.T) {
	t.Parallel()
	needNamespaces(t)
	base := t.TempDir()
	script := `stat -c %a /mcp/jira /mcp/jira/mcp; ls "$0" 2>/dev/null; touch /mcp/x 2>/dev/null && echo touched`
	spec := config.Spec{Servers: []config.Server{server(t, "jira", "one")}, Agent: &config.Agent{Path: "/bin/sh", Args: []string{"-c", script, base}, Transports: []string{"unix"}}}
	if r := phaseIn(context.Background(), t, base, spec); r.out != "700\n600\n" {
		t.Errorf("modes %q", r.out)
	}
}

// FBK-011: an agent that only speaks stdio reaches its server through a program
// that only such an agent sees.
func TestStdioDoor(t *testing.T) {
	t.Parallel()
	needNamespaces(t)
	servers := []config.Server{server(t, "jira", "one"), server(t, "git-hub", "two")}
	asks := []string{"stdio BRIDGE_SERVER_JIRA_COMMAND", "stdio BRIDGE_SERVER_GIT_HUB_COMMAND"}
	got, _ := answers(t, config.Spec{Servers: servers, Agent: &config.Agent{Transports: []string{"stdio"}}}, asks...)
	want(t, asks, got, []string{"one<nil>", "two<nil>"})

	for _, transports := range [][]string{nil, {"http"}, {"unix", "http"}} {
		a := &config.Agent{Path: "/bin/sh", Args: []string{"-c", `test ! -e "$0" && env | grep ^BRIDGE_SERVER_JIRA_ | cut -d= -f1 | sort`, self(t)}, Transports: transports}
		r := phase(context.Background(), t, config.Spec{Servers: servers, Agent: a})
		wanted := "BRIDGE_SERVER_JIRA_URL\n"
		if slices.Contains(transports, "unix") {
			wanted = "BRIDGE_SERVER_JIRA_SOCKET\n" + wanted
		}
		if r.out != wanted {
			t.Errorf("an agent that speaks %q has %q, want %q", transports, r.out, wanted)
		}
	}
}

// A path that is too long for a socket is told before the agent runs.
func TestUnixDoorTooLong(t *testing.T) {
	base := filepath.Join(t.TempDir(), strings.Repeat("d", 100))
	if err := os.Mkdir(base, 0o700); err != nil {
		t.Fatal(err)
	}
	a := agentIfPossible(t)
	r := phaseIn(context.Background(), t, base, config.Spec{Servers: []config.Server{server(t, "jira", "one")}, Agent: a})
	if r.exit.Code != ref.CodeFailure || len(r.of("error")) != 1 {
		t.Errorf("exit %+v, %s", r.exit, fmt.Sprint(r.of("error")))
	}
}
