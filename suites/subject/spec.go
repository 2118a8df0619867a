package subject

// Spec is what one phase is to be: servers, rules, sandbox and agent. It is
// plain JSON; an unknown key is an error, a zero value means the default. A
// subject that cannot honour a field exits 125 with an unsupported event.
type Spec struct {
	Servers []Server `json:"servers,omitempty"`
	// Allow lists what the agent may reach besides the servers; empty denies all.
	Allow []Rule `json:"allow,omitempty"`
	// Deny beats Allow.
	Deny   []Rule  `json:"deny,omitempty"`
	Relays []Relay `json:"relays,omitempty"`
	Routes []Route `json:"routes,omitempty"`
	Model  *Model  `json:"model,omitempty"`
	Proxy  *Proxy  `json:"proxy,omitempty"`
	// Network is isolated, shared or auto (the default: the plan decides).
	Network string `json:"network,omitempty"`
	// Policy says what a missing isolation leads to: require (the default,
	// refuse), prefer (fall back and say so) or off (never isolate).
	Policy string `json:"policy,omitempty"`
	// Agent may be absent: then the phase lasts until it is told to end.
	Agent  *Agent  `json:"agent,omitempty"`
	Paths  *Paths  `json:"paths,omitempty"`
	Limits *Limits `json:"limits,omitempty"`
	// Seccomp is baseline (the default), strict or off.
	Seccomp  string    `json:"seccomp,omitempty"`
	Timeouts *Timeouts `json:"timeouts,omitempty"`
	// Resolver is the DNS server the proxy asks, as address:port; empty means
	// the system's.
	Resolver string `json:"resolver,omitempty"`
	// Descriptors are open in the subject and stay open in the agent, under
	// the same numbers, besides 0, 1 and 2.
	Descriptors []int `json:"descriptors,omitempty"`
}

// Server is one MCP server.
type Server struct {
	Name string `json:"name"`
	// Names are the authorities the agent knows the server by, as host:port;
	// the default is NAME.mcp.internal:80.
	Names []string `json:"names,omitempty"`
	// Kind is stdio (the default), http or unix.
	Kind string `json:"kind,omitempty"`
	// Placement is sandbox (the default: a child of the agent) or host.
	Placement string            `json:"placement,omitempty"`
	Command   string            `json:"command,omitempty"`
	Args      []string          `json:"args,omitempty"`
	Env       map[string]string `json:"env,omitempty"`
	// URL is where a server of kind http (http://127.0.0.1:PORT/PATH, or by the
	// name localhost) or unix (unix:/PATH) listens.
	URL          string `json:"url,omitempty"`
	AllowedHosts []Rule `json:"allowed_hosts,omitempty"`
	// Transports are the MCP transports offered: http (streamable), sse.
	Transports []string `json:"transports,omitempty"`
	// Port is the relayed loopback port; 0 lets the subject choose.
	Port int `json:"port,omitempty"`
	// Containment is namespace (the default where it can be had) or
	// process-group.
	Containment    string `json:"containment,omitempty"`
	StartTimeoutMS int    `json:"start_timeout_ms,omitempty"`
	StopGraceMS    int    `json:"stop_grace_ms,omitempty"`
}

// Rule names one host and port, or every name below one (*.example.test).
type Rule struct {
	Host string `json:"host"`
	Port int    `json:"port"`
	// Addresses are the special-use ranges (CIDR) the host may resolve into.
	Addresses []string `json:"addresses,omitempty"`
}

// Relay is a loopback port of the sandbox that leads to a Unix socket of the host.
type Relay struct {
	Port       int    `json:"port"`
	UnixSocket string `json:"unix_socket"`
}

// Route is a path prefix on the proxy port, in origin form.
type Route struct {
	Prefix string `json:"prefix"`
	// Server names a server of the spec; URL an upstream. Exactly one is set.
	Server  string            `json:"server,omitempty"`
	URL     string            `json:"url,omitempty"`
	Headers map[string]string `json:"headers,omitempty"`
}

// Model is the model API behind the proxy port.
type Model struct {
	URL        string `json:"url"`
	Credential string `json:"credential,omitempty"`
}

// Proxy switches the egress proxy and its options.
type Proxy struct {
	// Mode is on (the default) or off.
	Mode string `json:"mode,omitempty"`
	// RefuseStatus answers a refused absolute-form request: 502 (the default) or 403.
	RefuseStatus int  `json:"refuse_status,omitempty"`
	SNICheck     bool `json:"sni_check,omitempty"`
}

// Agent is the program in the sandbox.
type Agent struct {
	Path string            `json:"path"`
	Args []string          `json:"args,omitempty"`
	Env  map[string]string `json:"env,omitempty"`
	Cwd  string            `json:"cwd,omitempty"`
	// Transports are the MCP transports the agent speaks: http, sse, stdio, unix.
	Transports []string   `json:"transports,omitempty"`
	TTY        bool       `json:"tty,omitempty"`
	MCPConfig  *MCPConfig `json:"mcp_config,omitempty"`
}

// MCPConfig asks for a configuration file in an agent's own format: claude,
// opencode, codex or gemini. A subject may answer unsupported.
type MCPConfig struct {
	Format string `json:"format"`
	Path   string `json:"path"`
}

// Paths are what the agent sees of the host's files.
type Paths struct {
	RO []string `json:"ro,omitempty"`
	RW []string `json:"rw,omitempty"`
	// Runtime is the directory the subject makes its sockets in.
	Runtime string `json:"runtime,omitempty"`
}

// Limits bound what one phase may use; 0 is the subject's default.
type Limits struct {
	Connections  int   `json:"connections,omitempty"`
	HeadBytes    int   `json:"head_bytes,omitempty"`
	HeadMS       int   `json:"head_ms,omitempty"`
	MessageBytes int   `json:"message_bytes,omitempty"`
	GarbageLines int   `json:"garbage_lines,omitempty"`
	Memory       int64 `json:"memory,omitempty"`
	PIDs         int   `json:"pids,omitempty"`
	Files        int   `json:"files,omitempty"`
}

// Timeouts are in milliseconds; 0 is the subject's default.
type Timeouts struct {
	IdleMS    int `json:"idle_ms,omitempty"`
	ConnectMS int `json:"connect_ms,omitempty"`
	PhaseMS   int `json:"phase_ms,omitempty"`
}
