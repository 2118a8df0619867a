package kit

import (
	"context"
	"net"
	"net/http"
	"os"
	"strings"
	"time"

	"github.com/onsi/ginkgo/v2"

	"bridgecheck/fakes/attempt"
	"bridgecheck/fakes/mcp"
	"bridgecheck/suites/subject"
)

// Server is a fake MCP server for a spec, placed on the host; flags are those
// of fakemcp. What it does can be asked with [T.Announced].
func (t *T) Server(name string, flags ...string) subject.Server {
	ginkgo.GinkgoHelper()
	return subject.Server{
		Name: name, Placement: "host", Command: t.run.cfg.FakeMCP,
		Args: append([]string{"--name", name, "--announce", t.announcements(name)}, flags...),
	}
}

// ServeMCP serves the fake MCP server over HTTP, at /mcp, from the harness itself:
// a server on the host that the subject finds and does not start.
func (t *T) ServeMCP(network, address string, o mcp.Options) net.Addr {
	ginkgo.GinkgoHelper()
	l, err := net.Listen(network, address)
	if err != nil {
		t.Fatal("serve MCP: %v", err)
	}
	server := &http.Server{Handler: mcp.Handler(o), ReadHeaderTimeout: time.Minute}
	go func() { _ = server.Serve(l) }() // ends with Close
	ginkgo.DeferCleanup(func() { _ = server.Close() })
	return l.Addr()
}

// Announced are the lines that the servers of this name have written so far:
// "started PID NAME", "request METHOD", "notification METHOD", "stopped PID HOW".
func (t *T) Announced(name string) []string {
	ginkgo.GinkgoHelper()
	lines := []string{}
	raw, err := os.ReadFile(t.announcements(name))
	if err != nil {
		return lines // it has not begun
	}
	for line := range strings.Lines(string(raw)) {
		lines = append(lines, strings.TrimSuffix(line, "\n"))
	}
	return lines
}

func (t *T) announcements(name string) string {
	ginkgo.GinkgoHelper()
	return t.Dir("announced") + "/" + name
}

// Call is one session of an MCP client of the older era with the server, by the
// URL and the token that the environment names: initialise, list the tools, call
// one.
func (a *Agent) Call(ctx context.Context, server, tool string, arguments map[string]any) attempt.Observation {
	ginkgo.GinkgoHelper()
	url := a.Env(ctx, ServerVariable(server, "URL"))
	if url == "" {
		ginkgo.Fail("the agent's environment names no URL of server " + server)
	}
	att := attempt.Attempt{
		Op: attempt.OpMCP, URL: url, Transport: "http", Era: "legacy", Via: "environment", Tool: tool, Arguments: arguments,
	}
	if token := a.Env(ctx, ServerVariable(server, "TOKEN")); token != "" {
		att.Headers = map[string]string{"Authorization": "Bearer " + token}
	}
	return a.Do(ctx, att)
}

// ServerVariable is the environment's name for what leads to a server: its URL
// or its TOKEN (CONTRACT.md 1.9).
func ServerVariable(server, what string) string {
	name := strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z':
			return r - 'a' + 'A'
		case r >= 'A' && r <= 'Z', r >= '0' && r <= '9':
			return r
		}
		return '_'
	}, server)
	return "BRIDGE_SERVER_" + name + "_" + what
}
