// Package adapter checks how an MCP server on the host looks from inside the
// sandbox (area MCP): through every door, in both eras of the protocol, both
// ways, token for token. The far side is the server's own account of what
// reached it.
package adapter

import (
	"context"
	"net/url"
	"strings"
	"time"

	"bridgecheck/fakes/attempt"
	"bridgecheck/suites/kit"
	"bridgecheck/suites/subject"
)

// The newest revision of each era.
const (
	legacy = "2025-11-25"
	modern = "2026-07-28"
)

// door is one kind of way from the agent to a server.
type door struct {
	needs     []subject.Capability
	transport string
	via       string
	url       func(ctx context.Context, p *kit.Phase, server string) string
}

var (
	absolute = door{[]subject.Capability{subject.VirtualNames, subject.AbsoluteForm}, "http", "proxy", virtual}
	connect  = door{[]subject.Capability{subject.VirtualNames, subject.Connect}, "http", "connect", virtual}
	loopback = door{[]subject.Capability{subject.RelayPorts}, "http", "direct", relayed}
	path     = door{[]subject.Capability{subject.PathRoutes}, "http", "direct", route}
	socket   = door{[]subject.Capability{subject.UnixDoor}, "unix", "", told("unix", "http")}
	events   = door{[]subject.Capability{subject.SSE, subject.RelayPorts}, "sse", "direct", told("loopback", "sse")}
	pathed   = door{[]subject.Capability{subject.SSE, subject.PathRoutes}, "sse", "direct", told("path", "sse")}
	lines    = door{[]subject.Capability{subject.UnixDoor}, "stdio", "", command}
	proxied  = door{[]subject.Capability{subject.SSE, subject.VirtualNames, subject.AbsoluteForm}, "sse", "proxy", told("proxy", "sse")}
)

// virtual is a server that has no other name than the default one.
func virtual(_ context.Context, _ *kit.Phase, server string) string {
	return "http://" + server + ".mcp.internal/mcp"
}

func relayed(ctx context.Context, p *kit.Phase, server string) string {
	return p.Agent.Env(ctx, kit.ServerVariable(server, "URL"))
}

func route(ctx context.Context, p *kit.Phase, server string) string {
	return "http://" + p.Agent.Proxy(ctx) + "/mcp/" + server
}

// command is what an agent that only speaks stdio starts in the server's place.
func command(ctx context.Context, p *kit.Phase, server string) string {
	return p.Agent.Env(ctx, kit.ServerVariable(server, "COMMAND"))
}

// told is a door whose URL only the ready event tells.
func told(kind, transport string) func(context.Context, *kit.Phase, string) string {
	return func(ctx context.Context, p *kit.Phase, server string) string {
		for _, d := range p.Ready(ctx).Doors {
			if d.Server == server && d.Kind == kind && d.Transport == transport {
				return d.URL
			}
		}
		return ""
	}
}

// call is one session of an MCP client through the door: initialise, list the
// tools, call one.
func (d door) call(ctx context.Context, p *kit.Phase, server, era, tool string, arguments map[string]any) attempt.Observation {
	att := attempt.Attempt{
		Op: attempt.OpMCP, URL: d.url(ctx, p, server), Transport: d.transport, Via: d.via, Era: era, Tool: tool, Arguments: arguments,
	}
	switch d.transport {
	case "unix":
		att.Path, att.URL = socketOf(att.URL), overSocket
	case "stdio":
		att.Data, att.URL = []byte(att.URL), ""
	}
	return p.Agent.Do(ctx, att)
}

// overSocket is the URL for what goes over a Unix socket: who is meant is clear.
const overSocket = "http://localhost/mcp"

// socketOf is the path of a door's URL, unix:/PATH.
func socketOf(door string) string {
	u, err := url.Parse(door)
	if err != nil {
		return ""
	}
	return u.Path
}

// endpoint is the door to server jira, for what is sent by hand.
func (d door) endpoint(ctx context.Context, p *kit.Phase) kit.Endpoint {
	if d.transport == "unix" {
		return p.Agent.EndpointAt(overSocket, "direct").Over(socketOf(d.url(ctx, p, "jira")))
	}
	return p.Agent.EndpointAt(d.url(ctx, p, "jira"), d.via)
}

// require ends the row where the subject does not claim the door.
func (d door) require(t *kit.T) {
	for _, need := range d.needs {
		t.Require(need)
	}
}

// host is the spec with these servers on the host.
func host(servers ...subject.Server) subject.Spec { return subject.Spec{Servers: servers} }

// count is how many lines are exactly this.
func count(lines []string, line string) int {
	n := 0
	for _, l := range lines {
		if l == line {
			n++
		}
	}
	return n
}

// stopped is how many processes of the server have said that they end.
func stopped(lines []string) int {
	n := 0
	for _, l := range lines {
		if strings.HasPrefix(l, "stopped ") {
			n++
		}
	}
	return n
}

// soon is Await for what nothing else has to happen for.
func soon(ctx context.Context, t *kit.T, what string, f func() bool) {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	t.Await(ctx, what, f)
}
