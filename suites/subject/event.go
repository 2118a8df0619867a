package subject

import "time"

// The kinds of event; CONTRACT.md section 5 says when each is written.
const (
	EventMode            = "mode"
	EventServerProgress  = "server-progress"
	EventServerStarted   = "server-started"
	EventReady           = "ready"
	EventDecision        = "decision"
	EventServerExited    = "server-exited"
	EventServerUnhealthy = "server-unhealthy"
	EventServerStopped   = "server-stopped"
	EventUnsupported     = "unsupported"
	EventError           = "error"
	EventExit            = "exit"
)

// Event is one JSON line of a subject. Only the fields of its kind are set. No
// event carries a secret.
type Event struct {
	Time time.Time `json:"time"`
	Kind string    `json:"event"`

	// mode: what the plan decided, before anything starts.
	Mode    string            `json:"mode,omitempty"`  // connect, shared-network
	Level   string            `json:"level,omitempty"` // isolated, shared/userns, shared/none
	Reason  string            `json:"reason,omitempty"`
	Servers []string          `json:"servers,omitempty"` // those that caused the mode
	Allow   []string          `json:"allow,omitempty"`   // canonical host:port, sorted
	Layers  map[string]string `json:"layers,omitempty"`  // on, off, missing

	// server-…: Server names it.
	Server     string `json:"server,omitempty"`
	Socket     string `json:"socket,omitempty"`
	URL        string `json:"url,omitempty"`
	Port       int    `json:"port,omitempty"`
	TookMS     int64  `json:"took_ms,omitempty"`
	How        string `json:"how,omitempty"` // eof, term, kill
	StderrTail string `json:"stderr_tail,omitempty"`
	// Containment is how the server's tree is held: namespace, process-group.
	Containment string `json:"containment,omitempty"`

	// ready: the agent is about to start.
	Doors []Door `json:"doors,omitempty"`
	V4    bool   `json:"v4,omitempty"`
	V6    bool   `json:"v6,omitempty"`

	// decision: what the proxy judged. Reason holds the reason code.
	Target  string `json:"target,omitempty"` // canonical host:port
	Rule    string `json:"rule,omitempty"`
	Verdict string `json:"verdict,omitempty"` // allow, deny, error
	Dialled string `json:"dialled,omitempty"` // address:port

	// unsupported.
	Field string `json:"field,omitempty"`

	// error: what stopped the start, before exit 125.
	Stage  string   `json:"stage,omitempty"`
	Errno  string   `json:"errno,omitempty"` // ENOSPC, EPERM, …
	Causes []string `json:"causes,omitempty"`

	// exit and server-exited: exactly one of the two is set.
	Code   *int   `json:"code,omitempty"`
	Signal string `json:"signal,omitempty"` // SIGKILL, …
}

// Door is one way from the agent to a server.
type Door struct {
	Server string `json:"server"`
	// Kind is proxy (virtual name through the proxy), loopback, unix or path.
	Kind      string `json:"kind"`
	Transport string `json:"transport"` // http, sse
	URL       string `json:"url"`
}
