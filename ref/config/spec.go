// Package config reads what one phase is to be: the JSON specification of the
// contract and the soda.yaml that people write. Reading is strict: unknown and
// doubled keys, wrong types and rules that could never match are errors, all of
// them are reported together, and each carries file, line and the fix. No
// error shows the value of an environment variable, a header or a credential.
package config

import "slices"

// Spec is one phase: servers, rules, sandbox and agent. The keys are those of
// the contract's JSON, protocol 1; a zero value means the default.
type Spec struct {
	Servers     []Server  `json:"servers"`
	Allow       []Rule    `json:"allow"` // what the agent may reach; empty denies all
	Deny        []Rule    `json:"deny"`  // beats Allow
	Relays      []Relay   `json:"relays"`
	Routes      []Route   `json:"routes"`
	Model       *Model    `json:"model"`
	Proxy       *Proxy    `json:"proxy"`
	Network     string    `json:"network"` // auto (default), isolated, shared
	Policy      string    `json:"policy"`  // require (default), prefer, off
	Agent       *Agent    `json:"agent"`   // nil: the phase lasts until it is told to end
	Paths       *Paths    `json:"paths"`
	Limits      *Limits   `json:"limits"`
	Seccomp     string    `json:"seccomp"` // baseline (default), strict, off
	Timeouts    *Timeouts `json:"timeouts"`
	Resolver    string    `json:"resolver"`    // address:port; empty is the system's
	Descriptors []int     `json:"descriptors"` // kept open in the agent under the same number
}

// Server is one MCP server.
type Server struct {
	Name string `json:"name"`
	// Names are authorities (host:port); the default is NAME.mcp.internal:80.
	Names          []string          `json:"names"`
	Kind           string            `json:"kind"`      // stdio (default), http, unix
	Placement      string            `json:"placement"` // sandbox (default for stdio), host
	Command        string            `json:"command"`
	Args           []string          `json:"args"`
	Env            map[string]string `json:"env"`
	URL            string            `json:"url"`
	AllowedHosts   []Rule            `json:"allowed_hosts"`
	Transports     []string          `json:"transports"`  // http, sse
	Port           int               `json:"port"`        // 0: the bridge chooses
	Containment    string            `json:"containment"` // namespace, process-group
	StartTimeoutMS int               `json:"start_timeout_ms"`
	StopGraceMS    int               `json:"stop_grace_ms"`
}

// Rule names one host and port, or every name below one (*.example.test).
type Rule struct {
	Host string `json:"host"`
	Port int    `json:"port"`
	// Addresses are the special-use ranges (CIDR) the host may resolve into.
	Addresses []string `json:"addresses"`
}

// Relay is a loopback port of the sandbox that leads to a Unix socket of the host.
type Relay struct {
	Port       int    `json:"port"`
	UnixSocket string `json:"unix_socket"`
}

// Route is a path prefix on the proxy port. Exactly one of Server and URL is set.
type Route struct {
	Prefix  string            `json:"prefix"`
	Server  string            `json:"server"`
	URL     string            `json:"url"`
	Headers map[string]string `json:"headers"`
}

// Model is the model API behind the proxy port.
type Model struct {
	URL        string `json:"url"`
	Credential string `json:"credential"`
}

// Proxy switches the egress proxy and its options.
type Proxy struct {
	Mode         string `json:"mode"`          // on (default), off
	RefuseStatus int    `json:"refuse_status"` // 502 (default) or 403
	SNICheck     bool   `json:"sni_check"`
}

// Agent is the program in the sandbox.
type Agent struct {
	Path       string            `json:"path"`
	Args       []string          `json:"args"`
	Env        map[string]string `json:"env"`
	Cwd        string            `json:"cwd"`
	Transports []string          `json:"transports"` // http, sse, stdio, unix; empty: any
	TTY        bool              `json:"tty"`
	MCPConfig  *MCPConfig        `json:"mcp_config"`
}

// MCPConfig asks for a configuration file in an agent's own format.
type MCPConfig struct {
	Format string `json:"format"`
	Path   string `json:"path"`
}

// Paths are what the agent sees of the host's files.
type Paths struct {
	RO      []string `json:"ro"`
	RW      []string `json:"rw"`
	Runtime string   `json:"runtime"` // where the bridge makes its sockets
}

// Limits bound what one phase may use; 0 is the default.
type Limits struct {
	Connections  int   `json:"connections"`
	HeadBytes    int   `json:"head_bytes"`
	HeadMS       int   `json:"head_ms"`
	MessageBytes int   `json:"message_bytes"`
	GarbageLines int   `json:"garbage_lines"`
	Memory       int64 `json:"memory"`
	PIDs         int   `json:"pids"`
	Files        int   `json:"files"`
}

// Timeouts are in milliseconds; 0 is the default.
type Timeouts struct {
	IdleMS    int `json:"idle_ms"`
	ConnectMS int `json:"connect_ms"`
	PhaseMS   int `json:"phase_ms"`
}

// ProxyPort is the loopback port of the egress proxy in the sandbox.
const ProxyPort = 18080

// OnHost tells whether the bridge serves the server from the host. One that
// listens there by itself is never a child of the agent.
func (s Server) OnHost() bool { return s.Placement == "host" || s.Placement == "" && s.Listens() }

// Listens tells a server that speaks HTTP itself and is not started.
func (s Server) Listens() bool { return s.Kind == "http" || s.Kind == "unix" }

// The transports by which an agent reaches a server. Unix is HTTP, of either
// kind, on a Unix socket.
const (
	HTTP  = "http"
	SSE   = "sse"
	Stdio = "stdio"
	Unix  = "unix"
)

// Offered are the MCP transports at the doors of a server on the host: those it
// declares, or else all that the bridge makes of stdio. A server that speaks HTTP
// itself is passed on as it is.
func (s Server) Offered() []string {
	switch {
	case len(s.Transports) > 0:
		return s.Transports
	case s.Listens():
		return []string{HTTP}
	}
	return []string{HTTP, SSE, Stdio}
}

// Speaks tells whether the agent has said, or not denied, that it speaks a
// transport.
func (a *Agent) Speaks(transport string) bool {
	return len(a.Transports) == 0 || slices.Contains(a.Transports, transport)
}

// Authorities are the names the agent knows the server by, as host:port.
func (s Server) Authorities() []string {
	if len(s.Names) > 0 {
		return s.Names
	}
	return []string{s.Name + ".mcp.internal:80"}
}

// ProxyOn tells whether the egress proxy is wanted.
func (s Spec) ProxyOn() bool { return s.Proxy == nil || s.Proxy.Mode != "off" }

// Isolation returns Network and Policy with their defaults filled in.
func (s Spec) Isolation() (network, policy string) {
	network, policy = s.Network, s.Policy
	if network == "" {
		network = "auto"
	}
	if policy == "" {
		policy = "require"
	}
	return network, policy
}
