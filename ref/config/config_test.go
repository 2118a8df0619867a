package config_test

import (
	"os"
	"strings"
	"testing"

	"bridgecheck/ref/config"
)

func TestSpecOfTheContract(t *testing.T) {
	spec, err := config.ParseSpec("spec.json", []byte(`{
		"servers": [{"name": "jira", "placement": "host", "command": "true", "args": ["-v", ""], "port": 7000,
			"env": {"A": "\ud83d\ude00\t${HOME}"}, "names": ["jira:8080"], "start_timeout_ms": 20000}],
		"allow": [{"host": "api.example.test", "port": 443, "addresses": ["10.20.0.0/16"]}],
		"proxy": {"refuse_status": 403},
		"agent": {"path": "/bin/true", "transports": ["http"]},
		"paths": null,
		"timeouts": {"phase_ms": 1000}
	}`))
	if err != nil {
		t.Fatal(err)
	}
	s := spec.Servers[0]
	if s.Name != "jira" || !s.OnHost() || s.Args[1] != "" || s.StartTimeoutMS != 20000 || s.Port != 7000 {
		t.Errorf("server = %+v", s)
	}
	if s.Env["A"] != "\U0001F600\t${HOME}" {
		t.Errorf("env = %q; a spec's values are literal", s.Env)
	}
	if spec.Allow[0].Addresses[0] != "10.20.0.0/16" || spec.Proxy.RefuseStatus != 403 || spec.Paths != nil || spec.Timeouts.PhaseMS != 1000 {
		t.Errorf("spec = %+v", spec)
	}
	if network, policy := spec.Isolation(); network != "auto" || policy != "require" || !spec.ProxyOn() {
		t.Errorf("defaults = %s, %s, %v", network, policy, spec.ProxyOn())
	}
}

func TestSODA(t *testing.T) {
	data, err := os.ReadFile("testdata/soda.yaml")
	if err != nil {
		t.Fatal(err)
	}
	lookup := func(name string) (string, bool) { return "t0k3n", name == "JIRA_TOKEN" }
	spec, err := config.ParseSODA("soda.yaml", data, lookup)
	if err != nil {
		t.Fatal(err)
	}
	jira, search := spec.Servers[0], spec.Servers[1]
	if jira.Name != "jira" || jira.Env["TOKEN"] != "Bearer t0k3n" || jira.Env["LITERAL"] != "${X}" {
		t.Errorf("jira = %+v", jira)
	}
	if jira.StartTimeoutMS != 90_000 || jira.StopGraceMS != 1500 || jira.Kind != "stdio" {
		t.Errorf("jira = %+v", jira)
	}
	if search.OnHost() || search.AllowedHosts[0].Host != "search.example.test" || search.AllowedHosts[0].Port != 443 {
		t.Errorf("search = %+v", search)
	}
	if spec.Timeouts.IdleMS != 300_000 || spec.Policy != "prefer" {
		t.Errorf("spec = %+v", spec)
	}
}

// Each row breaks a good file in one place and names the line and a part of
// the fix.
func TestProblems(t *testing.T) {
	server := func(lines string) string { return "mcp_servers:\n  jira:\n    command: \"true\"\n" + lines }
	for name, row := range map[string]struct {
		file string
		want []string // one a problem, each a part of the line it must begin with and of its text, split by |
	}{
		"unknown key":            {"nonsense: []", []string{"soda.yaml:1: nonsense: |the keys here are mcp_servers, allow"}},
		"mistyped key":           {"alow: []", []string{"soda.yaml:1: alow: |did you mean allow?"}},
		"mistyped and so absent": {"mcp_servers:\n  a: {comand: x}\n", []string{"soda.yaml:2: mcp_servers.a.comand: unknown key; did you mean command?"}},
		"unknown server key":     {server("    comand: x\n"), []string{"soda.yaml:4: mcp_servers.jira.comand: unknown key|command"}},
		"key twice":              {"policy: off\nnetwork: auto\npolicy: off\n", []string{"soda.yaml:3: policy: the key stands twice|line 1"}},
		"server twice":           {server("  jira:\n    command: \"true\"\n"), []string{"soda.yaml:4: mcp_servers.jira: the key stands twice|line 2"}},
		"list for string":        {server("    url: [a]\n"), []string{"soda.yaml:4: mcp_servers.jira.url: wants a string, found a list"}},
		"number for string":      {server("    args:\n    - a\n    - 8080\n"), []string{"soda.yaml:6: mcp_servers.jira.args[1]: |put it in quotes"}},
		"string for port":        {server("    port: \"80\"\n"), []string{"soda.yaml:4: mcp_servers.jira.port: wants an integer, found a string"}},
		"octal port":             {server("    port: 0443\n"), []string{"soda.yaml:4: mcp_servers.jira.port: 0443 is not a plain|leading zero"}},
		"signed port":            {server("    port: +443\n"), []string{"soda.yaml:4: |without sign"}},
		"port below":             {server("    port: -1\n"), []string{"soda.yaml:4: |1 to 65535"}},
		"port above":             {server("    port: 65536\n"), []string{"soda.yaml:4: |1 to 65535"}},
		"duration without unit":  {server("    start_timeout: 30\n"), []string{"soda.yaml:4: |30s or 500ms"}},
		"duration negative":      {server("    stop_timeout: -3s\n"), []string{"soda.yaml:4: |too short"}},
		"not yaml":               {"allow: [\n", []string{"soda.yaml:1: not YAML"}},
		"empty":                  {"# nothing\n", []string{"soda.yaml:1: the file is empty"}},
		"two documents":          {"policy: off\n---\npolicy: off\n", []string{"soda.yaml:3: a second document"}},
		"nested":                 {"\n" + strings.Repeat("[", 40), []string{"soda.yaml:2: brackets are nested"}},
		"anchor":                 {"policy: &a prefer\n", []string{"soda.yaml:1: policy: |found an anchor"}},
		"enum":                   {"policy: maybe\nseccomp: odd\n", []string{`soda.yaml:1: policy: "maybe"|require, prefer, off`, "soda.yaml:2: seccomp: "}},
		"contradiction":          {"network: isolated\npolicy: off\n", []string{"soda.yaml:2: policy: |network: shared"}},
		"scheme in host":         {"allow:\n- host: https://a.example.test\n  port: 443\n", []string{"soda.yaml:2: allow[0]: "}},
		"star":                   {"allow:\n- {host: a.example.test, port: 1}\n- host: \"*\"\n  port: 443\n", []string{"soda.yaml:3: allow[1]: "}},
		"rule port 0":            {"deny:\n- host: a.example.test\n", []string{"soda.yaml:2: deny[0]: "}},
		"hosts on host server":   {server("    placement: host\n    allowed_hosts: [{host: a.example.test, port: 443}]\n"), []string{"soda.yaml:5: |placement: sandbox"}},
		"empty allowed hosts":    {server("    allowed_hosts: []\n"), []string{"soda.yaml:4: |leave it out"}},
		"missing program":        {"mcp_servers:\n  a:\n    placement: host\n    command: /no/such/program\n", []string{"soda.yaml:4: mcp_servers.a.command: cannot run|full path"}},
		"directory as program":   {"mcp_servers:\n  a:\n    placement: host\n    command: /tmp\n", []string{"soda.yaml:4: |it is a directory"}},
		"no program in own PATH": {"mcp_servers:\n  a:\n    placement: host\n    command: \"true\"\n    env: {PATH: /nowhere}\n", []string{"soda.yaml:4: |not found in PATH"}},
		"program of the sandbox": {"mcp_servers:\n  a:\n    command: /no/such/program\n", nil},
		"no command":             {"mcp_servers:\n  a: {}\n", []string{"soda.yaml:2: mcp_servers.a.command: |give the command"}},
		"command and url":        {server("    url: http://127.0.0.1:8000/mcp\n"), []string{"soda.yaml:3: |remove command"}},
		"default of a variable":  {server("    env:\n      A: ${NOPE:-x}\n"), []string{"soda.yaml:5: mcp_servers.jira.env.A: |no name of a variable|write ${NAME}"}},
		"unclosed variable":      {server("    env:\n      A: x${NOPE\n      B: $${NOPE\n"), []string{"soda.yaml:5: mcp_servers.jira.env.A: |and a }"}},
		"assignment for env":     {server("    env: {A=B: \"\"}\n"), []string{`soda.yaml:4: mcp_servers.jira.env: "A=…"|NAME: value`}},
		"string for a rule":      {server("    allowed_hosts: [\"a.example.test:443\"]\n"), []string{"soda.yaml:4: |wants a mapping, found a string; write its keys: host, port"}},
		"user in a rule":         {"allow: [{host: u@a.example.test, port: 1}]\ndeny: [{host: u@a.example.test, port: 1}]\n", []string{"soda.yaml:1: allow[0].host: |host alone", "soda.yaml:2: deny[0].host: "}},
		"command line":           {"mcp_servers:\n  a:\n    placement: host\n    command: npx -y server\n", []string{`soda.yaml:4: mcp_servers.a.command: "npx"|into args`}},
		"url with a query":       {"mcp_servers:\n  a: {url: \"http://127.0.0.1:80/?k=v\"}\n", []string{"soda.yaml:2: mcp_servers.a.url: |remove user, query"}},
		"url elsewhere":          {"mcp_servers:\n  a:\n    url: http://192.0.2.1:80/\n", []string{"soda.yaml:3: mcp_servers.a.url: |127.0.0.1"}},
		"url in the sandbox":     {"mcp_servers:\n  a: {placement: sandbox, url: \"http://127.0.0.1:80/\"}\n", []string{"soda.yaml:2: |placement: host"}},
		"url":                    {"mcp_servers:\n  a: {url: \"http://[::1]:80/mcp\"}\n", nil},
		"url of localhost":       {"mcp_servers:\n  a: {url: \"http://LocalHost:80/mcp\"}\n", nil},
		"url below localhost":    {"mcp_servers:\n  a: {url: \"http://a.localhost:80/mcp\"}\n", []string{"localhost:PORT"}},
		"url of localhost.":      {"mcp_servers:\n  a: {url: \"http://localhost.:80/mcp\"}\n", []string{"localhost:PORT"}},
		"url without a port":     {"mcp_servers:\n  a: {url: \"http://localhost/mcp\"}\n", []string{"localhost:PORT"}},
		"url with port 0":        {"mcp_servers:\n  a: {url: \"http://localhost:0/mcp\"}\n", []string{"localhost:PORT"}},
		"url with port 65536":    {"mcp_servers:\n  a: {url: \"http://127.0.0.1:65536/mcp\"}\n", []string{"localhost:PORT"}},
		"url of localhost, TLS":  {"mcp_servers:\n  a: {url: \"https://localhost:80/mcp\"}\n", []string{"localhost:PORT"}},
		"same variable":          {"mcp_servers:\n  a-b: {command: x}\n  a_b: {command: x, names: [\"ab:80\"]}\n", []string{"soda.yaml:3: |A_B|taken by server \"a-b\" in line 2"}},
		"same authority":         {"mcp_servers:\n  a: {command: x, names: [\"n:80\"]}\n  b: {command: x, names: [\"N:80\"]}\n", []string{"soda.yaml:3: mcp_servers.b.names[0]: |server \"a\" in line 2"}},
		"label with underscore":  {"mcp_servers:\n  a_b: {command: x}\n", []string{"soda.yaml:2: mcp_servers.a_b.names[0]: |host:port"}},
		"port of the proxy":      {server("    port: 18080\n"), []string{"soda.yaml:4: |by server \"jira\" and by the egress proxy"}},
		"port without proxy":     {server("    port: 18080\nproxy: {mode: \"off\"}\n"), nil},
		"port twice":             {server("    port: 7000\nrelays:\n- port: 7000\n  unix_socket: /run/x\n"), []string{"soda.yaml:6: relays[0].port: port 7000 is wanted by the relay to /run/x and by server \"jira\" in line 4"}},
		"unset variable":         {server("    env:\n      A: x${NOPE}\n"), []string{"soda.yaml:5: mcp_servers.jira.env.A: the variable NOPE is not set"}},
		"resolver":               {"resolver: 192.0.2.53\n", []string{"soda.yaml:1: resolver: |192.0.2.53:53"}},
		"relative path":          {"paths:\n  ro: [a]\n", []string{"soda.yaml:2: paths.ro[0]: "}},
		"negative amount":        {"limits:\n  memory: -1\n", []string{"soda.yaml:2: limits.memory: -1 is negative"}},
		"all together": {
			"policy: maybe\nalow: 1\nmcp_servers:\n  a: {command: [], port: 0x1F}\n",
			[]string{"soda.yaml:1: policy", "soda.yaml:2: alow", "soda.yaml:4: mcp_servers.a.command: wants", "soda.yaml:4: mcp_servers.a.port"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := config.ParseSODA("soda.yaml", []byte(row.file), func(string) (string, bool) { return "", false })
			compare(t, err, row.want)
		})
	}
}

func TestProblemsOfSpec(t *testing.T) {
	for name, row := range map[string]struct {
		file string
		want []string
	}{
		"server name":    {"{\"servers\": [\n{\"name\": \"../x\", \"command\": \"x\"}]}", []string{"f:2: servers[0].name: "}},
		"names missing":  {"{\"servers\": [{\"command\": \"x\"}]}", []string{"f:1: servers[0].name: \"\" is no server name"}},
		"kind":           {`{"servers": [{"name": "a", "kind": "tcp"}]}`, []string{"f:1: servers[0].kind: |stdio, http, unix"}},
		"unix url":       {`{"servers": [{"name": "a", "kind": "unix", "url": "/x"}]}`, []string{"f:1: servers[0].url: |unix:/PATH"}},
		"route":          {`{"routes": [{"prefix": "/mcp/../x", "server": "no"}]}`, []string{"prefix: |clean", "f:1: routes[0].server: there is no server"}},
		"route to both":  {`{"routes": [{"prefix": "/a/", "server": "no", "url": "https://a"}]}`, []string{"exactly one"}},
		"agent":          {`{"agent": {"cwd": "x", "transports": ["smoke"]}}`, []string{"agent.path", "agent.cwd", "agent.transports[0]: \"smoke\""}},
		"descriptors":    {`{"descriptors": [2, 3, 3]}`, []string{"descriptors[0]: 2", "descriptors[2]: 3 stands twice"}},
		"refuse status":  {`{"proxy": {"refuse_status": 500}}`, []string{"502 or 403"}},
		"model":          {`{"model": {"url": "ftp://x"}}`, []string{"model.url"}},
		"model and root": {`{"model": {"url": "http://x"}, "routes": [{"prefix": "/", "url": "http://y"}]}`, []string{"routes[0].prefix"}},
		"top-level list": {`[]`, []string{"f:1: wants a mapping, found a list"}},
		"float":          {`{"descriptors": [3.5]}`, []string{"wants an integer, found a number"}},
		"too large":      {`{"limits": {"memory": 9223372036854775808}}`, []string{"too large"}},
		"longest time":   {`{"timeouts": {"phase_ms": 9223372036854}}`, nil},
		"time overflows": {
			`{"timeouts": {"phase_ms": 9223372036855}, "servers": [{"name": "a", "command": "x", "stop_grace_ms": 9223372036854775807}]}`,
			[]string{"servers[0].stop_grace_ms: 9223372036854775807 is too large", "timeouts.phase_ms: 9223372036855 is too large|9223372036854"},
		},
		"largest message": {`{"limits": {"message_bytes": 2147483647, "memory": 9223372036854775807}}`, nil},
		"limits overflow": {`{"limits": {"message_bytes": 2147483648, "head_bytes": 9223372036854775807}}`, []string{"limits.head_bytes", "limits.message_bytes: 2147483648 is too large"}},
		"port of a rule":  {`{"allow": [{"host": "a.example.test", "port": "443"}]}`, []string{"allow[0].port: wants an integer"}},
		"NUL bytes": {
			`{"agent": {"path": "/a\u0000", "args": ["x", "a\u0000b"]}, "servers": [{"name": "a", "command": "x", "args": ["\u0000"]}], "relays": [{"port": 7000, "unix_socket": "/x\u0000"}]}`,
			[]string{"servers[0].args[0]: |NUL", "agent.args[1]: |NUL", "agent.path: |NUL", "relays[0].unix_socket: |NUL"},
		},
		"longest socket": {`{"relays": [{"port": 7000, "unix_socket": "/` + strings.Repeat("x", 106) + `"}]}`, nil},
		"socket path":    {`{"relays": [{"port": 7000, "unix_socket": "/` + strings.Repeat("x", 107) + `"}]}`, []string{"relays[0].unix_socket: |108 bytes|107"}},
		"header fields": {
			`{"routes": [{"prefix": "/a", "url": "https://a.example.test/", "headers": {"A B": "x", "Key": "secret\r\nX: y", "Ok": "z"}}]}`,
			[]string{"routes[0].headers: \"A B\"", "routes[0].headers.Key: the value holds"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := config.ParseSpec("f", []byte(row.file))
			compare(t, err, row.want)
		})
	}
}

func compare(t *testing.T, err error, want []string) {
	t.Helper()
	problems := config.Problems(err)
	if len(problems) != len(want) {
		t.Fatalf("got %d problems, want %d:\n%v", len(problems), len(want), err)
	}
	for i, p := range problems {
		for part := range strings.SplitSeq(want[i], "|") {
			if !strings.Contains(p.String(), part) {
				t.Errorf("problem %d = %q, want %q in it", i, p, part)
			}
		}
		if p.Fix == "" && !strings.Contains(p.String(), "allow[") && !strings.Contains(p.String(), "deny[") {
			t.Errorf("problem %d = %q carries no fix", i, p)
		}
	}
}

func TestSecretsAreNotShown(t *testing.T) {
	const secret = "5up3r"
	for _, file := range []string{
		`{"servers": [{"name": "a", "command": "x", "env": {"A": ["` + secret + `"], "B": "` + secret + `\u0000"}}]}`,
		`{"model": {"url": "` + secret + `", "credential": {"k": "` + secret + `"}}}`,
		`{"routes": [{"headers": {"Authorization": 5}, "url": "x:` + secret + `"}]}`,
		"model:\n  credential: \"" + secret + "\n",
		"model: {credential: " + secret + ": x}\n  y\n",
	} {
		_, err := config.ParseSpec("f", []byte(file))
		if err == nil || strings.Contains(err.Error(), secret) {
			t.Errorf("%s\nerror = %v", file, err)
		}
	}
}

// What people write where a secret belongs elsewhere, or is not quoted, is shown
// as little.
func TestSecretsInTheWrongPlaceAreNotShown(t *testing.T) {
	const secret = "5up3r"
	lookup := func(string) (string, bool) { return "", false }
	for _, server := range []string{
		"env: {TOKEN: \"${TOKEN:-5up3r}\"}", "env: {TOKEN: \"${5up3r\"}", "env: {TOKEN=5up3r: x}", "env: {TOKEN=5up3r: [x]}",
		"env: [TOKEN=5up3r]", "env: TOKEN=5up3r", "env: {TOKEN: |5up3r\n}", "env: {TOKEN: @5up3r}", "env: {TOKEN: *5up3r}",
		"env: {TOKEN: !t 5up3r}", "env: {TOKEN: \"\\q5up3r\"}", "env: {TOKEN: \"5up3r}", "env: {TOKEN: {5up3r: x}}",
		"placement: host, command: sh -c TOKEN=5up3r", "args: --token=5up3r", "url: \"http://u:5up3r@127.0.0.1:80/\"",
		"url: \"http://127.0.0.1:80/?key=5up3r\"", "url: \"http://u:5up3r@a.example.test/\"",
		"allowed_hosts: [{host: \"https://u:5up3r@a.example.test/\", port: 1}]", "allowed_hosts: [\"u:5up3r@a.example.test\"]",
	} {
		_, err := config.ParseSODA("f", []byte("mcp_servers: {a: {"+server+"}}"), lookup)
		if err == nil || strings.Contains(err.Error(), secret) {
			t.Errorf("%s\nerror = %v", server, err)
		}
	}
}

func TestValidateWithoutFile(t *testing.T) {
	err := config.Spec{Policy: "x"}.Validate()
	if err == nil || !strings.HasPrefix(err.Error(), "policy: ") {
		t.Errorf("error = %v; there is no file to name", err)
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte(`{"servers": [{"name": "a", "command": "x"}], "allow": [{"host": "h", "port": 1}]}`))
	f.Add([]byte("mcp_servers:\n  a: {command: x, env: {A: '${B}'}}\nallow: [{host: '*.e.test', port: 443}]\n"))
	f.Add([]byte("a: &x {<<: *x}\n? [k]\n: |\n  text\n!!int b: ~\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		lookup := func(string) (string, bool) { return "", false }
		spec, err := config.ParseSpec("f", data)
		soda, err2 := config.ParseSODA("f", data, lookup)
		for _, p := range append(config.Problems(err), config.Problems(err2)...) {
			if p.Line < 1 {
				t.Errorf("%q has no line", p)
			}
		}
		if err == nil && spec.Validate() != nil || err2 == nil && soda.Validate() != nil {
			t.Error("valid when read, invalid afterwards")
		}
	})
}
