package config

import (
	"reflect"
	"regexp"
	"time"

	"github.com/goccy/go-yaml/ast"
)

// soda is the subset of soda.yaml that concerns the bridge.
type soda struct {
	MCPServers ast.Node `json:"mcp_servers"`

	Allow    []Rule       `json:"allow"`
	Deny     []Rule       `json:"deny"`
	Relays   []Relay      `json:"relays"`
	Proxy    *Proxy       `json:"proxy"`
	Network  string       `json:"network"`
	Policy   string       `json:"policy"`
	Paths    *Paths       `json:"paths"`
	Limits   *Limits      `json:"limits"`
	Seccomp  string       `json:"seccomp"`
	Timeouts sodaTimeouts `json:"timeouts"`
	Resolver string       `json:"resolver"`
}

type sodaTimeouts struct {
	Idle    time.Duration `json:"idle"`
	Connect time.Duration `json:"connect"`
	Phase   time.Duration `json:"phase"`
}

type sodaServer struct {
	Names        []string          `json:"names"`
	Placement    string            `json:"placement"`
	Command      string            `json:"command"`
	Args         []string          `json:"args"`
	Env          map[string]string `json:"env"`
	URL          string            `json:"url"`
	AllowedHosts []Rule            `json:"allowed_hosts"`
	Transports   []string          `json:"transports"`
	Port         int               `json:"port"`
	Containment  string            `json:"containment"`
	StartTimeout time.Duration     `json:"start_timeout"`
	StopTimeout  time.Duration     `json:"stop_timeout"`
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

var reference = regexp.MustCompile(`\$?\$\{([^}]*)\}`)

// expand replaces ${NAME} in the values of env.
func (d *decoder) expand(env map[string]string, field string, lookup func(string) (string, bool)) {
	for key, value := range env {
		at := field + "." + key
		env[key] = reference.ReplaceAllStringFunc(value, func(ref string) string {
			if ref[1] == '$' {
				return ref[1:]
			}
			name := reference.FindStringSubmatch(ref)[1]
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
