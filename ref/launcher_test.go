package ref_test

import (
	"context"
	"os"
	"os/exec"
	"slices"
	"strings"
	"syscall"
	"testing"

	"bridgecheck/ref"
	"bridgecheck/ref/config"
	"bridgecheck/ref/sandbox/external"
)

// launchedBy runs a phase in what a fake backend makes.
func launchedBy(hosts bool, words ...string) func(*ref.Options) {
	command := func() *exec.Cmd {
		cmd := external.Self(words...)()
		cmd.Env = append(os.Environ(), "GORACE="+quick["GORACE"])
		return cmd
	}
	return func(o *ref.Options) { o.Launcher = &external.Launcher{Command: command, Hosts: hosts} }
}

func TestLauncherReachesServers(t *testing.T) {
	needNamespaces(t)
	r := phase(context.Background(), t, config.Spec{
		Servers: []config.Server{server(t, "jira", "jira")},
		Agent:   agent(t, "call", "http://127.0.0.1:18080/mcp/jira", "http://jira.mcp.internal/mcp"),
	}, launchedBy(false))
	wantExit(t, r, ref.Exit{Reason: ref.ReasonAgent})
	if r.out != "200 jira\n200 jira\n" {
		t.Errorf("the agent said %q", r.out)
	}
	mode := r.of("mode")[0]
	if mode.Mode != "connect" || mode.Level != "isolated" {
		t.Errorf("mode %+v", mode)
	}
	for layer, want := range map[string]string{
		"netns": "on", "pidns": "on", "userns": "on", "landlock": "on", "seccomp": "on", "no-new-privs": "on", "environment": "on", "mountns": "on", // it is a native sandbox
	} {
		if mode.Layers[layer] != want {
			t.Errorf("layer %s is %q, want %q", layer, mode.Layers[layer], want)
		}
	}
	for _, door := range r.of("ready")[0].Doors {
		if door.Kind == "loopback" || door.Kind == "unix" {
			t.Errorf("a door that is not there: %+v", door)
		}
	}
}

// The end of the agent is told as the helper tells it; a helper that does not is
// a failure of the bridge, whatever its agent did.
func TestLauncherEnds(t *testing.T) {
	needNamespaces(t)
	for _, row := range []struct {
		name  string
		agent []string
		words []string
		want  ref.Exit
	}{
		{"code", []string{"exit", "125"}, nil, ref.Exit{Code: 125, Reason: ref.ReasonAgent}},
		{"signal", []string{"kill"}, nil, ref.Exit{Signal: syscall.SIGKILL, Reason: ref.ReasonAgent}},
		{"helper dies", []string{"exit", "0"}, []string{"die"}, ref.Exit{Code: ref.CodeFailure, Reason: ref.ReasonFailure}},
	} {
		t.Run(row.name, func(t *testing.T) {
			wantExit(t, phase(context.Background(), t, config.Spec{Agent: agent(t, row.agent...)}, launchedBy(false, row.words...)), row.want)
		})
	}
	for path, code := range map[string]int{"/nowhere/at/all": 127, "/etc/passwd": 126} {
		wantExit(t, phase(context.Background(), t, config.Spec{Agent: &config.Agent{Path: path}}, launchedBy(false)), ref.Exit{Code: code, Reason: ref.ReasonAgent})
	}
}

// Without a way to the proxy, or without a namespace, policy decides.
func TestLauncherFallsBack(t *testing.T) {
	needNamespaces(t)
	for _, row := range []struct {
		name, level, stage, reason string
		hosts                      bool
		words                      []string
	}{
		{"no proxy socket", "shared/userns", "launcher", "fake (fake 1.2) leads no port of a sandbox to a proxy", false, []string{"proxy_socket"}},
		{"no allowed hosts", "shared/userns", "launcher", "fake (fake 1.2) leads no port of a sandbox to a proxy", true, []string{"allowed_hosts"}},
		{"no network", "shared/userns", "launcher", "fake (fake 1.2) makes no network of the sandbox's own", false, []string{"own_network"}},
		{"nothing of its own", "shared/none", "launcher", "fake (fake 1.2) makes no network of the sandbox's own", false, []string{"own_network", "own_pids"}},
		{"host refuses", "shared/userns", "clone", "this host cannot isolate the network (clone: ENOSPC)", false, []string{"fail"}},
	} {
		t.Run(row.name, func(t *testing.T) {
			spec := config.Spec{Agent: agent(t, "exit", "7"), Allow: []config.Rule{{Host: "a.example.test", Port: 443}}, Policy: "require"}
			r := phase(context.Background(), t, spec, launchedBy(row.hosts, row.words...))
			wantExit(t, r, ref.Exit{Code: ref.CodeFailure, Reason: ref.ReasonFailure})
			if told := r.of("error"); len(told) != 1 || told[0].Stage != row.stage || !strings.Contains(told[0].Reason, strings.SplitN(row.reason, " (clone", 2)[0]) {
				t.Errorf("require: %+v", told)
			}
			if len(r.of("ready")) > 0 {
				t.Error("the agent was about to start")
			}
			spec.Policy = "prefer"
			r = phase(context.Background(), t, spec, launchedBy(row.hosts, row.words...))
			wantExit(t, r, ref.Exit{Code: 7, Reason: ref.ReasonAgent})
			mode := r.of("mode")[0]
			if mode.Mode != "shared-network" || mode.Level != row.level || !strings.Contains(mode.Reason, row.reason) {
				t.Errorf("prefer: %+v", mode)
			}
			if mode.Layers["landlock"] != "on" || mode.Layers["seccomp"] != "on" || mode.Layers["netns"] == "on" {
				t.Errorf("layers %v", mode.Layers)
			}
		})
	}
}

func TestLauncherWithHosts(t *testing.T) {
	needNamespaces(t)
	for _, row := range []struct {
		allow []config.Rule
		want  string
	}{
		{[]config.Rule{{Host: "B.example.test.", Port: 443}, {Host: "*.a.example.test", Port: 80}}, "[{*.a.example.test 80} {b.example.test 443}]"},
		{nil, "[{nothing.is.allowed.invalid 1}]"},
	} {
		r := phase(context.Background(), t, config.Spec{Agent: agent(t, "ask", "get http://127.0.0.1:18080/"), Allow: row.allow}, launchedBy(true))
		wantExit(t, r, ref.Exit{Reason: ref.ReasonAgent})
		if r.out != "403 "+row.want+"\n" {
			t.Errorf("the agent heard %q, want %s", r.out, row.want)
		}
		if mode := r.of("mode")[0]; mode.Mode != "connect" {
			t.Errorf("mode %+v", mode)
		}
	}
}

// What a launcher does not do is refused by name, and not claimed.
func TestLauncherUnsupported(t *testing.T) {
	for _, row := range []struct {
		field string
		hosts bool
		words []string
		spec  config.Spec
	}{
		{"agent.tty", false, nil, config.Spec{Agent: &config.Agent{Path: "/bin/true", TTY: true}}},
		{"relays", false, nil, config.Spec{Relays: []config.Relay{{Port: 9000, UnixSocket: "/x"}}}},
		{"servers.port", false, nil, config.Spec{Servers: []config.Server{{Name: "a", Placement: "host", Command: "/bin/true", Port: 9000}}}},
		{"limits.pids", false, nil, config.Spec{Limits: &config.Limits{PIDs: 5}}},
		{"seccomp", false, nil, config.Spec{Seccomp: "off"}},
		{"seccomp", false, []string{"seccomp"}, config.Spec{Seccomp: "baseline"}},
		{"timeouts.idle_ms", false, nil, config.Spec{Timeouts: &config.Timeouts{IdleMS: 300_001}}},
		{"limits.connections", false, nil, config.Spec{Limits: &config.Limits{Connections: 65}}},
		{"routes", false, []string{"proxy_socket"}, config.Spec{Routes: []config.Route{{Prefix: "/x/", URL: "http://192.0.2.1"}}}},
		{"servers.placement", true, nil, config.Spec{Servers: []config.Server{server(t, "a", "a")}}},
		{"model", true, nil, config.Spec{Model: &config.Model{URL: "http://192.0.2.1"}}},
		{"deny", true, nil, config.Spec{Deny: []config.Rule{{Host: "a.example.test", Port: 1}}}},
		{"resolver", true, nil, config.Spec{Resolver: "192.0.2.77:5353"}},
		{"allow.addresses", true, nil, config.Spec{Allow: []config.Rule{{Host: "a.example.test", Port: 1, Addresses: []string{"10.0.0.0/8"}}}}},
	} {
		t.Run(row.field, func(t *testing.T) {
			r := phase(context.Background(), t, row.spec, launchedBy(row.hosts, row.words...))
			wantExit(t, r, ref.Exit{Code: ref.CodeFailure, Reason: ref.ReasonFailure})
			if told := r.of("unsupported"); len(told) != 1 || told[0].Field != row.field {
				t.Errorf("unsupported events %+v", told)
			}
		})
	}
}

func TestDescribeLauncher(t *testing.T) {
	for _, row := range []struct {
		hosts    bool
		words    []string
		name     string
		limits   ref.DeclaredLimits
		has, not []string
	}{
		{
			false, nil, "ref-fake",
			ref.DeclaredLimits{Connections: 63, IdleSeconds: 300, HeadBytes: 64 << 10},
			[]string{"netns", "pidns", "connect", "absolute-form", "virtual-names", "host-servers", "model-route", "landlock", "fallback"},
			[]string{"relay", "ipv6", "unix-door", "tty", "fd-clean", "limits", "foreign-relay"},
		},
		{
			true, nil, "ref-fake-hosts",
			ref.DeclaredLimits{Connections: 64, IdleSeconds: 300, HeadBytes: 2048},
			[]string{"netns", "connect", "sandbox-servers", "fallback", "env-clean"},
			[]string{"host-servers", "absolute-form", "virtual-names", "sni", "rule-addresses", "model-route"},
		},
		{
			true,
			[]string{"allowed_hosts", "own_pids", "seccomp"},
			"ref-fake-hosts",
			ref.DeclaredLimits{Connections: 64, IdleSeconds: 300, HeadBytes: 2048},
			[]string{"netns", "fallback"},
			[]string{"connect", "pidns", "seccomp", "host-servers"},
		},
	} {
		opt := ref.Options{}
		launchedBy(row.hosts, row.words...)(&opt)
		d, err := ref.Describe(context.Background(), "", opt.Launcher)
		if err != nil || d.Name != row.name || d.Limits != row.limits || !d.Double || d.Versions["fake"] != "1.2" {
			t.Errorf("%+v, %v; want %+v", d, err, row)
		}
		for _, w := range row.has {
			if !slices.Contains(d.Capabilities, w) {
				t.Errorf("%s does not claim %s", d.Name, w)
			}
		}
		for _, w := range row.not {
			if slices.Contains(d.Capabilities, w) {
				t.Errorf("%s claims %s", d.Name, w)
			}
		}
	}
}
