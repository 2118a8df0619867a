package ref_test

import (
	"context"
	"slices"
	"strings"
	"testing"

	"bridgecheck/ref"
	"bridgecheck/ref/config"
)

var failure = ref.Exit{Code: ref.CodeFailure, Reason: ref.ReasonFailure}

// LIF-003: one server fails; the other is stopped and the agent never runs.
func TestServerThatFails(t *testing.T) {
	for name, row := range map[string]struct {
		behaviour string
		timeout   int
		want      string
	}{
		"dies": {"die", 5000, "no licence found"},
		"mute": {"mute", 300, "no answer"},
	} {
		t.Run(name, func(t *testing.T) {
			bad := server(t, "bad", row.behaviour)
			bad.StartTimeoutMS = row.timeout
			r := phase(context.Background(), t, config.Spec{
				Servers: []config.Server{server(t, "good", "x"), bad}, Agent: agentIfPossible(t),
			})
			wantExit(t, r, failure)
			errors := r.of("error")
			if len(errors) != 1 || errors[0].Stage != "server-start" || errors[0].Server != "bad" ||
				!strings.Contains(errors[0].Reason+errors[0].StderrTail, row.want) {
				t.Errorf("errors = %+v, want one of server bad with %q", errors, row.want)
			}
			if len(r.of("ready")) > 0 || r.out != "" {
				t.Errorf("the agent ran: %q", r.out)
			}
			if started, stopped := len(r.of("server-started")), len(r.of("server-stopped")); started != stopped {
				t.Errorf("%d servers were started, %d stopped", started, stopped)
			}
		})
	}
}

// agentIfPossible is nil where no sandbox can be made: the servers come first.
func agentIfPossible(t *testing.T) (a *config.Agent) {
	t.Run("sandbox", func(t *testing.T) {
		needNamespaces(t)
		a = agent(t, "env")
	})
	return a
}

// FBK-010, CAP-002: what is not supported is refused by name.
func TestUnsupported(t *testing.T) {
	description, err := ref.Describe(t.Context(), "", nil)
	if err != nil {
		t.Fatal(err)
	}
	claimed := description.Capabilities
	for field, row := range map[string]struct {
		spec       config.Spec
		capability string
	}{
		"agent.mcp_config":   {config.Spec{Agent: &config.Agent{Path: "/bin/true", MCPConfig: &config.MCPConfig{Format: "claude", Path: "/x"}}}, ""},
		"servers.transports": {config.Spec{Servers: []config.Server{{Name: "a", Kind: "http", URL: "http://127.0.0.1:9", Transports: []string{"http", "sse"}}}}, ""},
	} {
		r := phase(context.Background(), t, row.spec)
		wantExit(t, r, failure)
		if got := r.of("unsupported"); len(got) != 1 || got[0].Field != field {
			t.Errorf("%s: unsupported = %+v", field, got)
		}
		if slices.Contains(claimed, row.capability) {
			t.Errorf("%s is claimed, and %s refused", row.capability, field)
		}
		if len(r.of("mode")) > 0 {
			t.Errorf("%s: a mode was decided", field)
		}
	}
}

func TestBrokenSpec(t *testing.T) {
	r := phase(context.Background(), t, config.Spec{
		Servers: []config.Server{{Name: "a", Command: "/no/such", Placement: "host"}}, Network: "sideways",
	})
	wantExit(t, r, failure)
	e := r.of("error")
	if len(e) != 1 || e[0].Stage != "config" || len(e[0].Causes) != 2 || e[0].Server != "a" {
		t.Errorf("error = %+v", e)
	}
}

func TestDangerousVariable(t *testing.T) {
	a := agent(t, "env")
	a.Env["LD_PRELOAD"] = "/x.so"
	r := phase(context.Background(), t, config.Spec{Agent: a})
	wantExit(t, r, failure)
	if e := r.of("error"); len(e) != 1 || e[0].Stage != "config" || !strings.HasPrefix(e[0].Reason, "agent.env: \"LD_PRELOAD\"") {
		t.Errorf("error = %+v", e)
	}
}

func TestPlantedSymlink(t *testing.T) {
	spec := config.Spec{Servers: []config.Server{server(t, "a", "x")}}
	r := runtimeAt(t, spec, func(dir string) string { return plantLink(t, dir) })
	if r.exit != failure || len(r.of("error")) != 1 || !strings.Contains(r.of("error")[0].Reason, "symbolic link") {
		t.Errorf("exit = %+v, %s", r.exit, r.text.String())
	}
	if len(r.of("server-started")) > 0 {
		t.Error("a server was started")
	}
}

func TestDryRun(t *testing.T) {
	dry := func(o *ref.Options) { o.DryRun = true }
	r := phase(context.Background(), t, config.Spec{Policy: "prefer", Agent: agent(t, "env"), Servers: []config.Server{server(t, "a", "x")}}, dry)
	if lines := r.lines(); len(lines) != 1 || lines[0].Event != "mode" || r.err != nil || r.exit.Status() != 0 {
		t.Errorf("events = %+v, %+v, %v", lines, r.exit, r.err)
	}
	r = phase(context.Background(), t, config.Spec{Network: "isolated", Servers: []config.Server{{Name: "a", Command: "a"}}}, dry)
	if lines := r.lines(); len(lines) != 1 || lines[0].Event != "error" || r.exit.Status() != 125 || !strings.Contains(lines[0].Reason, "server a") {
		t.Errorf("events = %+v, %+v", lines, r.exit)
	}
}
