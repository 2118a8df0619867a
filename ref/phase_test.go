package ref_test

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"bridgecheck/ref"
	"bridgecheck/ref/config"
)

// LIF-010, FBK-007: the agent's end is the phase's; mode is the first event.
func TestExitTruth(t *testing.T) {
	needNamespaces(t)
	for name, row := range map[string]struct {
		agent *config.Agent
		want  ref.Exit
	}{
		"code 0":     {agent(t, "exit", "0"), ref.Exit{Reason: ref.ReasonAgent}},
		"code 7":     {agent(t, "exit", "7"), ref.Exit{Code: 7, Reason: ref.ReasonAgent}},
		"code 125":   {agent(t, "exit", "125"), ref.Exit{Code: 125, Reason: ref.ReasonAgent}},
		"signal":     {agent(t, "kill"), ref.Exit{Signal: syscall.SIGKILL, Reason: ref.ReasonAgent}},
		"not found":  {&config.Agent{Path: "/no/such/agent"}, ref.Exit{Code: 127, Reason: ref.ReasonAgent}},
		"no program": {&config.Agent{Path: "/etc/passwd"}, ref.Exit{Code: 126, Reason: ref.ReasonAgent}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := phase(context.Background(), t, config.Spec{Agent: row.agent})
			wantExit(t, r, row.want)
			if first := r.lines()[0]; first.Event != "mode" || first.Level != "isolated" {
				t.Errorf("first event = %+v, want the mode", first)
			}
		})
	}
	if (ref.Exit{Signal: syscall.SIGKILL}).Status() != 137 || (ref.Exit{Code: 9}).Status() != 9 {
		t.Error("the status of an exit is not a shell's")
	}
}

// LIF-011
func TestStandardStreams(t *testing.T) {
	t.Parallel()
	needNamespaces(t)
	data := make([]byte, 3<<20)
	for i := range data {
		data[i] = byte(i * i >> 7)
	}
	file := filepath.Join(t.TempDir(), "in")
	if err := os.WriteFile(file, data, 0o600); err != nil {
		t.Fatal(err)
	}
	stdin, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer stdin.Close()
	r := phase(context.Background(), t, config.Spec{Agent: agent(t, "copy")}, func(o *ref.Options) { o.Stdin = stdin })
	wantExit(t, r, ref.Exit{Reason: ref.ReasonAgent})
	if r.out != string(data) || r.stderr != "to stderr" {
		t.Errorf("stdout has %d bytes of %d, stderr is %q", len(r.out), len(data), r.stderr)
	}
}

// ALW-029, RLY-012: every door leads to its own server and to no other.
func TestDoors(t *testing.T) {
	t.Parallel()
	needNamespaces(t)
	jira, hub := server(t, "jira", "one"), server(t, "git-hub", "two")
	jira.Names = []string{"jira.mcp.internal:80", "jira:8080"}
	hub.Port = 7000
	doors := []string{
		"http://jira.mcp.internal/mcp", "http://JIRA:8080/mcp", "http://127.0.0.1:18080/mcp/jira", "http://127.0.0.1:18081/mcp",
		"http://git-hub.mcp.internal/mcp", "http://127.0.0.1:18080/mcp/git-hub", "http://127.0.0.1:7000/mcp",
		"http://127.0.0.1:18080/mcp/none", "http://jira.mcp.internal:81/mcp",
	}
	want := []string{"200 one", "200 one", "200 one", "200 one", "200 two", "200 two", "200 two", "404", "502"}
	r := phase(context.Background(), t, config.Spec{
		Servers: []config.Server{jira, hub}, Agent: agent(t, append([]string{"call"}, doors...)...),
	})
	wantExit(t, r, ref.Exit{Reason: ref.ReasonAgent})
	if got := strings.Split(strings.TrimSpace(r.out), "\n"); !slices.Equal(got, want) {
		t.Errorf("answers = %q, want %q", got, want)
	}
	var told []string
	for _, d := range r.of("ready")[0].Doors {
		told = append(told, d.URL)
	}
	for _, door := range []string{"http://jira:8080/mcp", "http://127.0.0.1:7000/mcp", "http://127.0.0.1:18080/mcp/jira"} {
		if !slices.Contains(told, door) {
			t.Errorf("doors told are %q, want %s among them", told, door)
		}
	}
	if n := len(r.of("server-stopped")); n != 2 {
		t.Errorf("%d servers were stopped, want 2", n)
	}
}

// AGT-002: the agent's variables.
func TestEnvironment(t *testing.T) {
	needNamespaces(t)
	t.Setenv("LD_PRELOAD", "/x.so")
	t.Setenv("no_proxy", "*")
	t.Setenv("MY_TOKEN", "s3cret")
	a := agent(t, "env")
	a.Env["OWN"], a.Env["HTTP_PROXY"] = "1", "http://192.0.2.1:1"
	r := phase(context.Background(), t, config.Spec{Servers: []config.Server{server(t, "git-hub", "x")}, Agent: a})
	wantExit(t, r, ref.Exit{Reason: ref.ReasonAgent})
	var env []string
	if err := json.Unmarshal([]byte(r.out), &env); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"OWN=1", "BRIDGE_MODE=connect", "BRIDGE_LEVEL=isolated", "BRIDGE_REASON=all MCP servers are bridged from the host",
		"HTTP_PROXY=http://127.0.0.1:18080", "https_proxy=http://127.0.0.1:18080", "no_proxy=localhost,127.0.0.1,::1",
		"BRIDGE_SERVER_GIT_HUB_URL=http://127.0.0.1:18081/mcp",
	} {
		if !slices.Contains(env, want) {
			t.Errorf("%s is missing in %q", want, env)
		}
	}
	for _, kv := range env {
		if strings.HasPrefix(kv, "LD_") || strings.Contains(kv, "_TOKEN") {
			t.Errorf("the agent has %s", kv)
		}
	}
}

// FBK-002, FBK-008, MCP-012: in a shared network the door wants the token.
func TestSharedNetwork(t *testing.T) {
	t.Parallel()
	needNamespaces(t)
	loose := config.Server{Name: "loose", Command: "loose"}
	a := &config.Agent{Path: "/bin/sh", Args: []string{"-c", `exec "$0" fake-agent call "$BRIDGE_SERVER_JIRA_URL" "$BRIDGE_SERVER_JIRA_URL#BRIDGE_SERVER_JIRA_TOKEN"`, self(t)}}
	r := phase(context.Background(), t, config.Spec{
		Servers: []config.Server{server(t, "jira", "one"), loose}, Agent: a, Paths: &config.Paths{RO: []string{filepath.Dir(self(t))}},
	})
	wantExit(t, r, ref.Exit{Reason: ref.ReasonAgent})
	mode := r.lines()[0]
	if mode.Mode != "shared-network" || mode.Level != "shared/userns" || !slices.Equal(mode.Servers, []string{"loose"}) || mode.Layers["seccomp"] != "on" {
		t.Errorf("mode = %+v", mode)
	}
	if want := "401\n200 one\n"; r.out != want {
		t.Errorf("answers = %q, want %q", r.out, want)
	}
	if strings.Contains(r.text.String(), "TOKEN") {
		t.Error("an event carries a token")
	}
}

// LIF-012: two phases at the same time, with the same names and ports.
func TestTwoPhases(t *testing.T) {
	t.Parallel()
	needNamespaces(t)
	done := make(chan run)
	for _, name := range []string{"one", "two"} {
		s := server(t, "jira", name)
		s.Port = 7000
		go func() {
			done <- phase(context.Background(), t, config.Spec{
				Servers: []config.Server{s}, Agent: agent(t, "call", "http://jira.mcp.internal/mcp", "http://127.0.0.1:7000/mcp"),
			})
		}()
	}
	answers := []string{(<-done).out, (<-done).out}
	slices.Sort(answers)
	if !slices.Equal(answers, []string{"200 one\n200 one\n", "200 two\n200 two\n"}) {
		t.Errorf("answers = %q", answers)
	}
}

// A terminal of the agent's own beside a caller's pipes: they stay as they are,
// and what is said to the terminal, which nobody sees, holds nothing up.
func TestTerminalWithoutPerson(t *testing.T) {
	t.Parallel()
	needNamespaces(t)
	script := `test -t 0 || test -t 1 || test -t 2 || echo "no stream is it"; head -c 300000 /dev/zero >/dev/tty && echo said`
	r := phase(context.Background(), t, config.Spec{Agent: &config.Agent{Path: "/bin/sh", Args: []string{"-c", script}, TTY: true}})
	wantExit(t, r, ref.Exit{Reason: ref.ReasonAgent})
	if r.out != "no stream is it\nsaid\n" || r.stderr != "" {
		t.Errorf("stdout %q, stderr %q", r.out, r.stderr)
	}
}
