package ref

import (
	"crypto/rand"
	"errors"
	"fmt"
	"log"
	"log/slog"
	"net"
	"net/http"
	"slices"
	"strings"
	"time"

	"bridgecheck/ref/adapter"
	"bridgecheck/ref/config"
	"bridgecheck/ref/plan"
)

// door is the agent's loopback port for one bridged server, and the Unix socket
// beside it.
type door struct {
	server config.Server
	port   uint16
	// prefix is what the paths have in front on the proxy port, where a launcher
	// makes no other; else empty.
	prefix string
	// Where others on the host could come in, the door is the host's own port
	// and wants a token.
	token    string
	listener net.Listener
	unix     *unixDoor // nil where it is not offered
}

// url is the one for the agent: streamable HTTP where both sides speak it.
func (d *door) url(a *config.Agent) string {
	if d.offers(config.SSE) && (!d.offers(config.HTTP) || !a.Speaks(config.HTTP) && a.Speaks(config.SSE)) {
		return d.at(paths[config.SSE][0])
	}
	return d.at(paths[config.HTTP][0])
}

func (d *door) at(path string) string {
	if d.prefix != "" {
		path = d.prefix + strings.TrimPrefix(path, "/mcp")
	}
	return fmt.Sprintf("http://127.0.0.1:%d%s", d.port, path)
}

func (d *door) offers(transport string) bool {
	return slices.Contains(d.server.Offered(), transport)
}

// http are the transports at the doors that are reached by network. Lines want a
// connection of their own, which the proxy has not: they go by the Unix socket.
func (d *door) http() (transports []string) {
	for _, t := range []string{config.HTTP, config.SSE} {
		if d.offers(t) {
			transports = append(transports, t)
		}
	}
	return transports
}

// openDoors gives each bridged server its port, in the sandbox's own network
// the declared one or the next free, in a shared network an ephemeral one, and
// its socket.
func (p *phase) openDoors() error {
	if err := p.runtimeDir(); err != nil {
		return err
	}
	taken := map[int]bool{config.ProxyPort: true}
	for _, r := range p.spec.Relays {
		taken[r.Port] = true
	}
	for _, s := range p.spec.Servers {
		taken[s.Port] = true
	}
	next := config.ProxyPort
	for _, s := range p.spec.Servers {
		if !slices.Contains(p.plan.Bridged, s.Name) {
			continue
		}
		d := &door{server: s, port: uint16(s.Port)}
		p.doors = append(p.doors, d)
		if p.spec.Agent == nil {
			continue // nobody comes in
		}
		switch {
		case p.plan.Mode == plan.Shared:
			if err := d.listen(); err != nil {
				return err
			}
			p.later(d.close)
		case p.opt.Launcher != nil:
			d.port, d.prefix = config.ProxyPort, routeTo(s.Name)
		case d.port == 0:
			for taken[next] {
				next++
			}
			taken[next] = true
			d.port = uint16(next)
		}
		if err := p.openUnix(d); err != nil {
			return err
		}
	}
	return p.openModel()
}

// doorTo is the door to a server, nil for one that is not bridged.
func (p *phase) doorTo(server string) *door {
	for _, d := range p.doors {
		if d.server.Name == server {
			return d
		}
	}
	return nil
}

func (d *door) listen() (err error) {
	if d.listener, d.token, err = hostPort(); err != nil {
		return err
	}
	d.port = uint16(d.listener.Addr().(*net.TCPAddr).Port)
	return nil
}

// hostPort opens a port of the host's, and makes the token for it.
func hostPort() (net.Listener, string, error) {
	l, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		return nil, "", fmt.Errorf("open a port of the host: %w", err)
	}
	return l, rand.Text(), nil
}

func (d *door) close() error {
	_ = d.listener.Close() // its HTTP server may have closed it
	return nil
}

// ports are those of the sandbox's own network: proxy, servers, relays.
func (p *phase) ports() (ports []uint16) {
	if p.plan.Mode == plan.Shared {
		return nil
	}
	if p.plan.Proxy {
		ports = append(ports, config.ProxyPort)
	}
	for _, d := range p.doors {
		if d.prefix == "" {
			ports = append(ports, d.port)
		}
	}
	for _, r := range p.spec.Relays {
		ports = append(ports, uint16(r.Port))
	}
	return ports
}

// serveHTTP serves handler on the listeners until the phase is closed.
func (p *phase) serveHTTP(handler http.Handler, listeners ...net.Listener) {
	server := &http.Server{Handler: handler, ReadHeaderTimeout: 10 * time.Second, ErrorLog: p.quietLog()}
	for _, l := range listeners {
		go func() { _ = server.Serve(l) }() // ends with Close
	}
	p.later(func() error {
		// The sandbox has closed its listeners with the agent.
		if err := server.Close(); !errors.Is(err, net.ErrClosed) {
			return err
		}
		return nil
	})
}

// quietLog keeps what net/http has to say from the agent's stderr.
func (p *phase) quietLog() *log.Logger {
	return slog.NewLogLogger(p.opt.Log.Handler(), slog.LevelDebug)
}

// endpoints serves a server by HTTP, as it is offered.
func (p *phase) endpoints(d *door) http.Handler {
	return offer(p.manager.Handler(d.server.Name), d.http()...)
}

// handler serves the door's port, for whoever may enter.
func (p *phase) handler(d *door) http.Handler {
	h := p.endpoints(d)
	if d.token != "" {
		return adapter.RequireBearer(d.token, h)
	}
	return h
}

// paths are those at which the adapter serves each transport.
var paths = map[string][]string{
	config.HTTP:  {"/mcp", "/mcp/"},
	config.SSE:   {"/sse", "/messages"},
	config.Stdio: {"/stdio"},
}

// offer lets through only what belongs to one of the transports.
func offer(h http.Handler, transports ...string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		for _, t := range transports {
			if slices.Contains(paths[t], r.URL.Path) {
				h.ServeHTTP(w, r)
				return
			}
		}
		http.NotFound(w, r)
	})
}

// tell puts what leads the agent to the server into its variables.
func (d *door) tell(env map[string]string, a *config.Agent) {
	key := "BRIDGE_SERVER_" + config.EnvName(d.server.Name)
	env[key+"_URL"] = d.url(a)
	if token := d.token; token != "" {
		env[key+"_TOKEN"] = token
	}
	if d.unix != nil {
		env[key+"_SOCKET"] = d.unix.path
	}
	if d.unix != nil && d.unix.program != "" {
		env[key+"_COMMAND"] = d.unix.command(d.server.Name)
	}
}
