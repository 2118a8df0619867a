// Package agentconfig writes the MCP part of coding agents' configuration, in the
// shape that each was measured to take: Claude Code 2.1.332, Opencode 1.18.33,
// Codex 0.171.0, Gemini CLI 0.61.0. A token is never written; the file refers to
// the environment variable that holds it.
package agentconfig

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// Server is one MCP server as the agent is to reach it: by URL or by Command.
type Server struct {
	Name string // letters, digits, - and _
	// URL of the door. With SSE it is that of the legacy HTTP+SSE transport, else
	// of streamable HTTP.
	URL string
	SSE bool
	// TokenEnv is the variable with the door's bearer token; empty: it wants none.
	TokenEnv string
	// Command is what speaks stdio for the server, a program with its arguments;
	// a Unix socket is reached so, since no agent takes one itself.
	Command []string
	// Env are variables for the command.
	Env map[string]string
	// EnvFrom are variables of the agent's own that the command needs, such as
	// BRIDGE_SERVER_JIRA_SOCKET: Codex passes on none that is not named.
	EnvFrom []string
}

// Format is the configuration of one agent.
type Format struct {
	Agent string
	// Path is where the agent looks, below its home (Codex, Gemini CLI) or its
	// working directory. Claude Code takes any file by --mcp-config.
	Path string

	write func([]Server) ([]byte, error)
	sse   bool // the agent speaks the legacy transport
}

// Formats are all that are known, by the word of the contract's mcp_config.format.
var Formats = map[string]Format{
	"claude":   {"Claude Code", ".mcp.json", claude, true},
	"opencode": {"Opencode", "opencode.json", opencode, true},
	"codex":    {"Codex", ".codex/config.toml", codex, false},
	"gemini":   {"Gemini CLI", ".gemini/settings.json", gemini, true},
}

// ErrNoDoor is the error for a door that the agent cannot use.
var ErrNoDoor = errors.New("the agent has no transport for this door")

// Names that all formats take as they are: as keys, and in names of tools.
var name = regexp.MustCompile(`^[A-Za-z0-9_-]+$`)

var variable = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)

// Write returns the file for the servers, by name.
func (f Format) Write(servers ...Server) ([]byte, error) {
	servers = slices.Clone(servers)
	slices.SortFunc(servers, func(a, b Server) int { return strings.Compare(a.Name, b.Name) })
	for i, s := range servers {
		if err := s.check(); err != nil {
			return nil, err
		}
		if i > 0 && servers[i-1].Name == s.Name {
			return nil, fmt.Errorf("server %q: named twice; give each its own name", s.Name)
		}
		if s.SSE && !f.sse {
			return nil, fmt.Errorf("server %q: %s speaks no HTTP+SSE: %w; use streamable HTTP", s.Name, f.Agent, ErrNoDoor)
		}
	}
	return f.write(servers)
}

func (s Server) check() error {
	switch {
	case !name.MatchString(s.Name):
		return fmt.Errorf("server %q: use letters, digits, - and _ for its name", s.Name)
	case (s.URL == "") == (len(s.Command) == 0):
		return fmt.Errorf("server %q: give either its URL or its command", s.Name)
	case s.URL != "" && !strings.HasPrefix(s.URL, "http://") && !strings.HasPrefix(s.URL, "https://"):
		return fmt.Errorf("server %q: %w: no agent takes %q; give the command of a shim", s.Name, ErrNoDoor, s.URL)
	case s.TokenEnv != "" && !variable.MatchString(s.TokenEnv):
		return fmt.Errorf("server %q: %q is no name of a variable", s.Name, s.TokenEnv)
	case slices.ContainsFunc(s.EnvFrom, func(v string) bool { return !variable.MatchString(v) }):
		return fmt.Errorf("server %q: %q are not all names of variables", s.Name, s.EnvFrom)
	case len(s.Command) > 0 && (s.SSE || s.TokenEnv != ""):
		return fmt.Errorf("server %q: a command has neither SSE nor a token", s.Name)
	}
	return nil
}
