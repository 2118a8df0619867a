package config

import (
	"reflect"
	"regexp"
	"time"

	"github.com/goccy/go-yaml/ast"
)

// soda is the subset of soda.yaml that concerns the bridge. The doc of a field
// is what an editor shows, see [Schema].
type soda struct {
	MCPServers ast.Node `json:"mcp_servers" doc:"The MCP servers, by name."`

	Allow    []Rule       `json:"allow" doc:"Hosts that the agent may reach besides its servers; without any, none."`
	Deny     []Rule       `json:"deny" doc:"Hosts that it may not reach although a rule of allow says so."`
	Relays   []Relay      `json:"relays" doc:"Loopback ports of the sandbox that lead to Unix sockets of this host."`
	Proxy    *Proxy       `json:"proxy" doc:"The egress proxy, which is the only way out."`
	Network  string       `json:"network" doc:"auto (the default) lets the servers decide; isolated insists; shared is the host's network."`
	Policy   string       `json:"policy" doc:"What happens where this host cannot isolate: require (the default) refuses, prefer goes on with less and says so, off never isolates."`
	Paths    *Paths       `json:"paths" doc:"What the agent sees of the host's files, by absolute paths."`
	Limits   *Limits      `json:"limits" doc:"What one phase may use; 0 is the default."`
	Seccomp  string       `json:"seccomp" doc:"The filter of system calls: baseline (the default), strict, or off."`
	Timeouts sodaTimeouts `json:"timeouts" doc:"When to give up."`
	Resolver string       `json:"resolver" doc:"The DNS server to ask, as 192.0.2.53:53; without it, the system's."`
}

type sodaTimeouts struct {
	Idle    time.Duration `json:"idle" doc:"Silence in both directions that ends a connection."`
	Connect time.Duration `json:"connect" doc:"How long a server of the network may take to answer a connection."`
	Phase   time.Duration `json:"phase" doc:"How long the agent may run; then the phase ends with code 124."`
}

type sodaServer struct {
	Names        []string          `json:"names" doc:"What the agent calls it, as host:port; without any, NAME.mcp.internal:80."`
	Placement    string            `json:"placement" doc:"sandbox (the default): started by the agent; host: started here, with the host's network."`
	Command      string            `json:"command" doc:"The program that speaks MCP on its standard streams."`
	Args         []string          `json:"args" doc:"Its arguments."`
	Env          map[string]string `json:"env" doc:"Its own variables; ${NAME} stands for one of the caller's."`
	URL          string            `json:"url" doc:"Where a server listens that is started by somebody else, as http://127.0.0.1:PORT/PATH or http://localhost:PORT/PATH."`
	AllowedHosts []Rule            `json:"allowed_hosts" doc:"Hosts that a server in the sandbox may reach; without the key the network is shared."`
	Transports   []string          `json:"transports" doc:"How the agent reaches it: http (the default), sse."`
	Port         int               `json:"port" doc:"Its loopback port in the sandbox; without one, the next that is free."`
	Containment  string            `json:"containment" doc:"How its processes are held together: namespace (the default), or process-group for one that needs ssh, sudo or ping."`
	StartTimeout time.Duration     `json:"start_timeout" doc:"How long it may take to answer its first request."`
	StopTimeout  time.Duration     `json:"stop_timeout" doc:"How long each step of stopping it may take: end of input, SIGTERM, SIGKILL."`
}

// ParseSODA reads a soda.yaml: mcp_servers maps names to servers, durations
// carry their unit, and ${NAME} in a value of env is taken from lookup
// ([os.LookupEnv]); $${ stands for ${ itself. The error is an [*Error].
func ParseSODA(file string, data []byte, lookup func(string) (string, bool)) (Spec, error) {
	d := &decoder{file: file, lines: map[string]int{}}
	var top soda
	if root := d.parse(data); root != nil {
		d.decode(root, reflect.ValueOf(&top).Elem(), "")
	}
	spec := top.spec()
	names := d.sodaServers(top.MCPServers, &spec, lookup)
	return spec, d.finish(spec, names)
}

func (s soda) spec() Spec {
	return Spec{
		Allow: s.Allow, Deny: s.Deny, Relays: s.Relays, Proxy: s.Proxy, Network: s.Network, Policy: s.Policy,
		Paths: s.Paths, Limits: s.Limits, Seccomp: s.Seccomp, Resolver: s.Resolver,
		Timeouts: &Timeouts{
			IdleMS:    int(s.Timeouts.Idle.Milliseconds()),
			ConnectMS: int(s.Timeouts.Connect.Milliseconds()),
			PhaseMS:   int(s.Timeouts.Phase.Milliseconds()),
		},
	}
}

func (s sodaServer) server(name string) Server {
	kind := "stdio"
	if s.URL != "" {
		kind = "http"
	}
	return Server{
		Name: name, Names: s.Names, Kind: kind, Placement: s.Placement, Command: s.Command, Args: s.Args, Env: s.Env,
		URL: s.URL, AllowedHosts: s.AllowedHosts, Transports: s.Transports, Port: s.Port, Containment: s.Containment,
		StartTimeoutMS: int(s.StartTimeout.Milliseconds()), StopGraceMS: int(s.StopTimeout.Milliseconds()),
	}
}

var (
	reference = regexp.MustCompile(`\$?\$\{([^}]*)(\}|$)`)
	variable  = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)
)

// expand replaces ${NAME} in the values of env. What stands there and is no name
// is not shown: the default in a shell's ${NAME:-default} may be the secret.
func (d *decoder) expand(env map[string]string, field string, lookup func(string) (string, bool)) {
	for key, value := range env {
		at := below(field, key)
		env[key] = reference.ReplaceAllStringFunc(value, func(ref string) string {
			if ref[1] == '$' {
				return ref[1:]
			}
			parts := reference.FindStringSubmatch(ref)
			name, closed := parts[1], parts[2] != ""
			if !closed || !variable.MatchString(name) {
				d.problem(d.lines[at], at, "what follows ${ is no name of a variable and a }", "write ${NAME}, or $${ for a literal ${")
				return ""
			}
			found, ok := lookup(name)
			if !ok {
				d.problem(d.lines[at], at, "the variable "+name+" is not set", "export it before the start, or write $${ for a literal ${")
			}
			return found
		})
	}
}

// sodaServers decodes the servers in the order of the file.
func (d *decoder) sodaServers(n ast.Node, spec *Spec, lookup func(string) (string, bool)) (fields []string) {
	if n == nil {
		return nil
	}
	d.pairs(n, "mcp_servers", func(key, at string, value ast.Node) {
		var s sodaServer
		d.decode(value, reflect.ValueOf(&s).Elem(), at)
		d.expand(s.Env, at+".env", lookup)
		spec.Servers = append(spec.Servers, s.server(key))
		fields = append(fields, at)
	})
	return fields
}
