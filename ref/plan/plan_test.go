package plan_test

import (
	"errors"
	"reflect"
	"slices"
	"strings"
	"testing"

	"bridgecheck/ref/config"
	"bridgecheck/ref/plan"
)

func sandboxed(name string, hosts ...config.Rule) config.Server {
	return config.Server{Name: name, Command: name, AllowedHosts: hosts}
}

func bridged(name string) config.Server {
	return config.Server{Name: name, Command: name, Placement: "host"}
}

// by is server a with what it offers.
func by(transports ...string) config.Server {
	s := bridged("a")
	s.Transports = transports
	return s
}

func url(name string) config.Server {
	return config.Server{Name: name, Kind: "http", URL: "http://127.0.0.1:9/mcp"}
}

func host(name string) config.Rule { return config.Rule{Host: name, Port: 443} }

var (
	noUserNS   = plan.Host{UserNS: &plan.Missing{Stage: "clone", Errno: "EPERM", Causes: []string{"chroot: leave it"}}}
	noNetNS    = plan.Host{NetNS: &plan.Missing{Stage: "clone", Errno: "ENOSPC", Causes: []string{"user.max_net_namespaces: raise it"}}}
	noLandlock = plan.Host{Landlock: &plan.Missing{Stage: "landlock", Errno: "ENOSYS"}}
	launched   = func(l plan.Launcher) plan.Host { l.Name = "box 1"; return plan.Host{Launcher: &l} }
	noSeccomp  = plan.Host{Seccomp: &plan.Missing{Stage: "seccomp", Errno: "EINVAL"}}
)

func TestDecide(t *testing.T) {
	agent := func(transports ...string) *config.Agent {
		return &config.Agent{Path: "/bin/agent", Transports: transports}
	}
	for name, row := range map[string]struct {
		spec    config.Spec
		host    plan.Host
		level   string   // "" is a refusal
		why     string   // in the reason, all parts split by |
		servers []string // that caused it
		bridged []string
	}{
		// FBK-001, FBK-005
		"no servers":   {config.Spec{}, plan.Host{}, plan.Isolated, "no MCP servers", nil, nil},
		"all declare":  {config.Spec{Servers: []config.Server{sandboxed("a", host("a.example.test"))}}, plan.Host{}, plan.Isolated, "declare", nil, nil},
		"all bridged":  {config.Spec{Servers: []config.Server{bridged("a"), bridged("b")}}, plan.Host{}, plan.Isolated, "bridged", nil, []string{"a", "b"}},
		"both kinds":   {config.Spec{Servers: []config.Server{bridged("a"), sandboxed("b", host("b"))}}, plan.Host{}, plan.Isolated, "declare|or are bridged", nil, []string{"a"}},
		"proxy is off": {config.Spec{Proxy: &config.Proxy{Mode: "off"}}, plan.Host{}, plan.Isolated, "without a proxy", nil, nil},
		// FBK-002, FBK-003
		"one undeclared":          {config.Spec{Servers: []config.Server{sandboxed("a")}}, plan.Host{}, plan.SharedUserNS, "server a runs in the sandbox without allowed_hosts", []string{"a"}, nil},
		"mixed":                   {config.Spec{Servers: []config.Server{sandboxed("z"), sandboxed("b", host("b")), sandboxed("a"), bridged("c")}}, plan.Host{}, plan.SharedUserNS, "servers a, z run", []string{"a", "z"}, []string{"c"}},
		"undeclared, isolated":    {config.Spec{Network: "isolated", Servers: []config.Server{sandboxed("a")}}, plan.Host{}, "", "server a", nil, nil},
		"undeclared, preferred":   {config.Spec{Network: "isolated", Policy: "prefer", Servers: []config.Server{sandboxed("a")}}, plan.Host{}, plan.SharedUserNS, "server a", []string{"a"}, nil},
		"asked for shared":        {config.Spec{Network: "shared"}, plan.Host{}, plan.SharedUserNS, "asks for", nil, nil},
		"policy off":              {config.Spec{Policy: "off"}, plan.Host{}, plan.SharedUserNS, "policy is off", nil, nil},
		"policy off, no userns":   {config.Spec{Policy: "off"}, noUserNS, plan.SharedNone, "policy is off|lost", nil, nil},
		"shared, require, none":   {config.Spec{Network: "shared"}, noUserNS, "", "cannot make the namespaces|EPERM", nil, nil},
		"undeclared, no netns":    {config.Spec{Servers: []config.Server{sandboxed("a")}}, noNetNS, plan.SharedUserNS, "server a", []string{"a"}, nil},
		"undeclared, no userns":   {config.Spec{Servers: []config.Server{sandboxed("a")}}, noUserNS, "", "chroot", nil, nil},
		"a relay on a shared one": {config.Spec{Network: "shared", Relays: []config.Relay{{Port: 7000, UnixSocket: "/x"}}}, plan.Host{}, "", "everybody", nil, nil},
		"a model on a shared one": {config.Spec{Network: "shared", Model: &config.Model{URL: "https://model.test"}}, plan.Host{}, plan.SharedUserNS, "asks for", nil, nil},
		"a route on a shared one": {config.Spec{Network: "shared", Routes: []config.Route{{Prefix: "/x", URL: "http://192.0.2.1"}}}, plan.Host{}, "", "routes", nil, nil},
		// FBK-006, FBK-008
		"no userns":             {config.Spec{}, noUserNS, "", "cannot isolate|clone: EPERM|chroot: leave it", nil, nil},
		"no userns, preferred":  {config.Spec{Policy: "prefer"}, noUserNS, plan.SharedNone, "cannot isolate|EPERM|lost with the user namespace", nil, nil},
		"no netns":              {config.Spec{}, noNetNS, "", "ENOSPC|raise it", nil, nil},
		"no netns, preferred":   {config.Spec{Policy: "prefer"}, noNetNS, plan.SharedUserNS, "ENOSPC|raise it", nil, nil},
		"no landlock":           {config.Spec{}, noLandlock, "", "landlock is missing|ENOSYS", nil, nil},
		"no landlock, prefer":   {config.Spec{Policy: "prefer"}, noLandlock, plan.Isolated, "missing on this host: landlock", nil, nil},
		"no seccomp":            {config.Spec{}, noSeccomp, "", "seccomp is missing", nil, nil},
		"no seccomp, not asked": {config.Spec{Seccomp: "off"}, noSeccomp, plan.Isolated, "no MCP servers", nil, nil},
		// FBK-009
		"dead proxy":            {config.Spec{Proxy: &config.Proxy{Mode: "off"}, Allow: []config.Rule{host("a")}}, plan.Host{}, "", "proxy that would lead to them is off", nil, nil},
		"dead proxy, preferred": {config.Spec{Policy: "prefer", Proxy: &config.Proxy{Mode: "off"}, Allow: []config.Rule{host("a")}}, plan.Host{}, plan.SharedUserNS, "proxy", nil, nil},
		// FBK-011
		"door fits":         {config.Spec{Agent: agent("sse", "http"), Servers: []config.Server{bridged("a")}}, plan.Host{}, plan.Isolated, "bridged", nil, []string{"a"}},
		"no door":           {config.Spec{Agent: agent("stdio"), Servers: []config.Server{by("http", "sse")}}, plan.Host{}, "", "/bin/agent|stdio|server a", nil, nil},
		"no door, prefer":   {config.Spec{Policy: "prefer", Agent: agent("stdio"), Servers: []config.Server{by("http"), bridged("b")}}, plan.Host{}, plan.SharedUserNS, "/bin/agent|stdio", []string{"a"}, []string{"b"}},
		"only sse":          {config.Spec{Agent: agent("http"), Servers: []config.Server{by("sse")}}, plan.Host{}, "", "/bin/agent|http|server a", nil, nil},
		"sse fits":          {config.Spec{Agent: agent("sse"), Servers: []config.Server{bridged("a")}}, plan.Host{}, plan.Isolated, "bridged", nil, []string{"a"}},
		"stdio fits":        {config.Spec{Agent: agent("stdio"), Servers: []config.Server{bridged("a")}}, plan.Host{}, plan.Isolated, "bridged", nil, []string{"a"}},
		"unix fits":         {config.Spec{Agent: agent("unix"), Servers: []config.Server{by("sse"), url("b")}}, plan.Host{}, plan.Isolated, "bridged", nil, []string{"a", "b"}},
		"listens, no sse":   {config.Spec{Agent: agent("sse"), Servers: []config.Server{url("a")}}, plan.Host{}, "", "/bin/agent|sse|server a", nil, nil},
		"listens, no stdio": {config.Spec{Agent: agent("stdio"), Servers: []config.Server{url("a")}}, plan.Host{}, "", "/bin/agent|stdio|server a", nil, nil},
		"no socket there":   {config.Spec{Policy: "prefer", Agent: agent("stdio", "unix"), Servers: []config.Server{bridged("a")}}, noUserNS, plan.SharedNone, "lost|/bin/agent speaks only stdio, unix|server a", nil, nil},
		"port there":        {config.Spec{Policy: "prefer", Agent: agent("unix", "sse"), Servers: []config.Server{bridged("a")}}, noUserNS, plan.SharedNone, "lost", nil, []string{"a"}},
		"socket, shared":    {config.Spec{Network: "shared", Agent: agent("stdio"), Servers: []config.Server{bridged("a")}}, plan.Host{}, plan.SharedUserNS, "asks for", nil, []string{"a"}},
		// Another launcher: no Unix sockets, and one port, which leads to the proxy.
		"launched":                   {config.Spec{Servers: []config.Server{bridged("a")}}, launched(plan.Launcher{OwnNetwork: true, OwnPIDs: true, Proxy: true}), plan.Isolated, "bridged", nil, []string{"a"}},
		"launched, no stdio":         {config.Spec{Agent: agent("stdio"), Servers: []config.Server{bridged("a")}}, launched(plan.Launcher{OwnNetwork: true, Proxy: true}), "", "/bin/agent|stdio|server a", nil, nil},
		"launched, proxy off":        {config.Spec{Proxy: &config.Proxy{Mode: "off"}, Servers: []config.Server{bridged("a")}}, launched(plan.Launcher{OwnNetwork: true, Proxy: true}), "", "box 1|only door|proxy.mode: on", nil, nil},
		"launched, nothing to reach": {config.Spec{}, launched(plan.Launcher{OwnNetwork: true}), plan.Isolated, "without a proxy, which box 1 has not", nil, nil},
		"launched, no proxy":         {config.Spec{Allow: []config.Rule{host("a")}}, launched(plan.Launcher{OwnNetwork: true}), "", "box 1 leads no port of a sandbox to a proxy (launcher); use a version", nil, nil},
		"launched, no proxy, prefer": {config.Spec{Policy: "prefer", Allow: []config.Rule{host("a")}}, launched(plan.Launcher{OwnNetwork: true, OwnPIDs: true}), plan.SharedUserNS, "box 1 leads no port", nil, nil},
		"launched, bridged, prefer":  {config.Spec{Policy: "prefer", Servers: []config.Server{bridged("a")}}, launched(plan.Launcher{OwnNetwork: true}), plan.SharedNone, "box 1 leads no port|lost with the user namespace, which box 1 makes for the network alone", nil, []string{"a"}},
		"launched, no network":       {config.Spec{}, launched(plan.Launcher{Proxy: true}), "", "box 1 makes no network", nil, nil},
		"launched, asked for shared": {config.Spec{Network: "shared"}, launched(plan.Launcher{OwnNetwork: true, Proxy: true}), plan.SharedNone, "asks for|lost with the user namespace, which box 1 makes for the network alone", nil, nil},
		"launched, host refuses":     {config.Spec{Policy: "prefer"}, plan.Host{NetNS: noNetNS.NetNS, Launcher: &plan.Launcher{OwnNetwork: true, OwnPIDs: true, Proxy: true}}, plan.SharedUserNS, "ENOSPC", nil, nil},
		"door of no server":          {config.Spec{Agent: agent("stdio"), Servers: []config.Server{sandboxed("a", host("a"))}}, plan.Host{}, plan.Isolated, "declare", nil, nil},
	} {
		t.Run(name, func(t *testing.T) {
			p, err := plan.Decide(row.spec, row.host)
			reason := p.Reason
			if refusal, ok := errors.AsType[*plan.Refusal](err); ok {
				reason, p = refusal.Error(), plan.Plan{}
			} else if err != nil {
				t.Fatal(err)
			}
			if p.Level != row.level {
				t.Errorf("level = %q, want %q; %s", p.Level, row.level, reason)
			}
			if isolated := p.Level == plan.Isolated; row.level != "" && (p.Mode == plan.Connect) != isolated {
				t.Errorf("mode = %q at level %q", p.Mode, p.Level)
			}
			for part := range strings.SplitSeq(row.why, "|") {
				if !strings.Contains(reason, part) {
					t.Errorf("reason = %q, want %q in it", reason, part)
				}
			}
			if !slices.Equal(p.Servers, row.servers) || !slices.Equal(p.Bridged, row.bridged) {
				t.Errorf("servers = %v, bridged = %v; want %v, %v", p.Servers, p.Bridged, row.servers, row.bridged)
			}
		})
	}
}

// FBK-004: joined, canonical, deduplicated, and the same every time.
func TestAllow(t *testing.T) {
	spec := config.Spec{
		Allow:   []config.Rule{host("B.Example.Test"), {Host: "b.example.test", Port: 80}},
		Servers: []config.Server{sandboxed("x", host("b.example.test"), host("a.example.test")), sandboxed("y", host("c.example.test"))},
	}
	want := []string{"a.example.test:443", "b.example.test:443", "b.example.test:80", "c.example.test:443"}
	for range 20 {
		p, err := plan.Decide(spec, plan.Host{})
		if err != nil || !slices.Equal(p.Allow, want) {
			t.Fatalf("allow = %v, %v; want %v", p.Allow, err, want)
		}
		slices.Reverse(spec.Servers)
		slices.Reverse(spec.Allow)
	}
}

func TestLayers(t *testing.T) {
	for name, row := range map[string]struct {
		spec config.Spec
		host plan.Host
		want map[string]string
	}{
		"all":              {config.Spec{}, plan.Host{}, map[string]string{"netns": "on", "userns": "on", "pidns": "on", "mountns": "on", "seccomp": "on", "landlock": "on"}},
		"asked":            {config.Spec{Network: "shared", Seccomp: "off"}, plan.Host{}, map[string]string{"netns": "off", "userns": "on", "pidns": "on", "mountns": "on", "seccomp": "off", "landlock": "on"}},
		"no netns":         {config.Spec{Policy: "prefer"}, noNetNS, map[string]string{"netns": "missing", "userns": "on", "pidns": "on", "mountns": "on", "seccomp": "on", "landlock": "on"}},
		"none":             {config.Spec{Policy: "prefer"}, noUserNS, map[string]string{"netns": "missing", "userns": "missing", "pidns": "missing", "mountns": "missing", "seccomp": "on", "landlock": "on"}},
		"launched":         {config.Spec{}, launched(plan.Launcher{OwnNetwork: true, Proxy: true}), map[string]string{"netns": "on", "userns": "on", "pidns": "missing", "mountns": "missing", "seccomp": "on", "landlock": "on"}},
		"launched, shared": {config.Spec{Network: "shared"}, launched(plan.Launcher{OwnNetwork: true, OwnPIDs: true, Proxy: true}), map[string]string{"netns": "off", "userns": "on", "pidns": "on", "mountns": "missing", "seccomp": "on", "landlock": "on"}},
		"launched, bare":   {config.Spec{Policy: "prefer"}, launched(plan.Launcher{}), map[string]string{"netns": "missing", "userns": "missing", "pidns": "missing", "mountns": "missing", "seccomp": "on", "landlock": "on"}},
	} {
		p, err := plan.Decide(row.spec, row.host)
		if err != nil || !reflect.DeepEqual(p.Layers, row.want) {
			t.Errorf("%s: layers = %v, %v; want %v", name, p.Layers, err, row.want)
		}
	}
}
