package lifecycle

import (
	"context"
	"os"
	"strings"

	"bridgecheck/suites/catalog"
	"bridgecheck/suites/kit"
	"bridgecheck/suites/subject"
)

// token is what a server is given in its environment, and nobody else.
const token = "tok-6b1f0c9e-of-jira-alone"

var _ = kit.Table(catalog.Case{
	ID:     "LIF-019",
	Title:  "gives what stands in a server's environment to that server alone",
	Must:   "A value of a server's `env` MUST reach that server, and MUST NOT be told: not in events, messages, arguments of processes, nor the agent's environment, also when the start fails or the spec is wrong.",
	Level:  catalog.Security,
	Clause: "6.19",
	Needs:  []subject.Capability{subject.HostServers, subject.Events},
	Host:   []catalog.HostFact{catalog.HostUserNS},
	Faults: []string{"environment-in-start-error", "environment-in-problems", "environment-logged"},
	Why:    "Tokens of MCP servers stand in env; logs are kept and shared, and every user of the host can read arguments.",
}, []kit.Row[string]{
	{Name: "runs", Value: "runs"},
	{Name: "start-fails", Value: "start-fails"},
	{Name: "wrong-spec", Value: "wrong-spec"},
}, func(ctx context.Context, t *kit.T, row string) {
	said := t.Dir("said") + "/stderr"
	stderr, err := os.Create(said)
	if err != nil {
		t.Fatal("make file: %v", err)
	}
	defer stderr.Close()
	phase := t.Start(ctx, subject.Spec{Servers: []subject.Server{keeper(t)}}, kit.WithStderr(stderr))
	t.Control("the phase runs", phase.Fate(ctx), kit.Be("the agent runs"))
	t.Control("what the server has had", telling(t.Announced("jira")), kit.Be([]string{"environment " + token}))

	switch row {
	case "runs":
		facts := phase.Agent.Facts(ctx)
		t.Attempt("variables of the agent with it", telling(facts.Env), kit.BeNone())
		t.Attempt("arguments of processes with it", telling(t.Strays()), kit.BeNone())
		t.Attempt("the phase ends", phase.Finish(ctx), kit.Be(kit.Exit{}))
	case "wrong-spec":
		phase = t.Start(ctx, subject.Spec{}, kit.WithStderr(stderr), kit.WithRawSpec([]byte(
			`{"servers": [{"name": "jira", "placement": "host", "command": "`+keeper(t).Command+`", "env": {"JIRA_TOKEN": ["`+token+`"]}}]}`)))
		t.Attempt("the start with a list for a value", phase.Wait(ctx), kit.Be(kit.Exit{Code: 125}))
	default:
		phase = t.Start(ctx, subject.Spec{Servers: []subject.Server{keeper(t, "--die-at-start", "3")}}, kit.WithStderr(stderr))
		t.Attempt("the start", phase.Wait(ctx), kit.Be(kit.Exit{Code: 125}))
	}
	t.Attempt("events", len(phase.EventLines()) > 0, kit.Be(true))
	t.Attempt("events with it", telling(eventLines(phase)), kit.BeNone())
	t.Attempt("messages with it", telling(strings.Split(read(t, said), "\n")), kit.BeNone())
})

// keeper is a server that announces the token it has had.
func keeper(t *kit.T, flags ...string) subject.Server {
	s := t.Server("jira", append(flags, "--announce-env", "JIRA_TOKEN")...)
	s.Env = map[string]string{"JIRA_TOKEN": token}
	return s
}

func read(t *kit.T, path string) string {
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal("read file: %v", err)
	}
	return string(text)
}

// telling are the lines with the token.
func telling(lines []string) []string {
	found := []string{}
	for _, line := range lines {
		if strings.Contains(line, token) {
			found = append(found, line)
		}
	}
	return found
}

func eventLines(p *kit.Phase) (lines []string) {
	for _, line := range p.EventLines() {
		lines = append(lines, string(line))
	}
	return lines
}
