// Package event is a leaf: what happened in a phase, as values and as JSON
// lines. An event never carries a secret, a credential or a token.
package event

import "time"

// Event is one thing that happened.
type Event interface {
	// Kind is the value of the line's "event" key.
	Kind() string
}

// Mode is the first event of a phase: what the plan decided.
type Mode struct {
	Mode    string            `json:"mode"`  // connect, shared-network
	Level   string            `json:"level"` // isolated, shared/userns, shared/none
	Reason  string            `json:"reason"`
	Servers []string          `json:"servers,omitempty"` // those that caused the mode
	Allow   []string          `json:"allow,omitempty"`   // canonical host:port, sorted
	Layers  map[string]string `json:"layers,omitempty"`  // on, off, missing
}

// ServerProgress tells that a server is still starting.
type ServerProgress struct {
	Server string        `json:"server"`
	Took   time.Duration `json:"-"`
}

// ServerStarted tells that a server has answered an MCP request.
type ServerStarted struct {
	Server      string        `json:"server"`
	Socket      string        `json:"socket,omitempty"`
	URL         string        `json:"url,omitempty"`
	Port        int           `json:"port,omitempty"`
	Containment string        `json:"containment,omitempty"`
	Took        time.Duration `json:"-"`
}

// Ready tells that the agent is about to start, and which doors it has.
type Ready struct {
	Doors []Door `json:"doors"`
	V4    bool   `json:"v4"`
	V6    bool   `json:"v6"`
}

// Door is one way from the agent to a server.
type Door struct {
	Server    string `json:"server"`
	Kind      string `json:"kind"`      // proxy, loopback, unix, path
	Transport string `json:"transport"` // http, sse
	URL       string `json:"url"`
}

// Decision is one judgement of the egress proxy.
type Decision struct {
	Target  string `json:"target"` // canonical host:port, or what could not be parsed
	Rule    string `json:"rule,omitempty"`
	Server  string `json:"server,omitempty"`
	Verdict string `json:"verdict"`          // allow, deny, error
	Reason  string `json:"reason,omitempty"` // reason code
	Dialled string `json:"dialled,omitempty"`
}

// ServerExited tells that a server ended without being asked to.
type ServerExited struct {
	Server     string `json:"server"`
	Code       *int   `json:"code,omitempty"`
	Signal     string `json:"signal,omitempty"`
	StderrTail string `json:"stderr_tail,omitempty"`
}

// ServerUnhealthy tells that a server no longer answers.
type ServerUnhealthy struct {
	Server string `json:"server"`
	Reason string `json:"reason"` // hung, dead
}

// ServerStopped tells which step ended a server: eof, term or kill.
type ServerStopped struct {
	Server string        `json:"server"`
	How    string        `json:"how"`
	Took   time.Duration `json:"-"`
}

// Unsupported names a field of the spec that this bridge cannot honour.
type Unsupported struct {
	Field  string `json:"field"`
	Reason string `json:"reason,omitempty"`
}

// Error is what stopped a start; the bridge exits 125 after it.
type Error struct {
	Stage      string   `json:"stage"`
	Reason     string   `json:"reason"`
	Errno      string   `json:"errno,omitempty"`
	Causes     []string `json:"causes,omitempty"`
	Server     string   `json:"server,omitempty"`
	StderrTail string   `json:"stderr_tail,omitempty"`
}

// Exit is the last event: how the agent, or a phase without one, ended.
type Exit struct {
	Code   *int   `json:"code,omitempty"`
	Signal string `json:"signal,omitempty"`
	Reason string `json:"reason"` // agent, quit, signal, timeout, out-of-memory, failure
}

// The kinds stand in the order in which a phase brings them up.

func (Mode) Kind() string            { return "mode" }
func (ServerProgress) Kind() string  { return "server-progress" }
func (ServerStarted) Kind() string   { return "server-started" }
func (Ready) Kind() string           { return "ready" }
func (Decision) Kind() string        { return "decision" }
func (ServerExited) Kind() string    { return "server-exited" }
func (ServerUnhealthy) Kind() string { return "server-unhealthy" }
func (ServerStopped) Kind() string   { return "server-stopped" }
func (Unsupported) Kind() string     { return "unsupported" }
func (Error) Kind() string           { return "error" }
func (Exit) Kind() string            { return "exit" }
