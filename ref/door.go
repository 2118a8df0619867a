package ref

import (
	"crypto/rand"
	"errors"
	"fmt"
	"log"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"bridgecheck/ref/adapter"
	"bridgecheck/ref/config"
	"bridgecheck/ref/egress"
	"bridgecheck/ref/event"
	"bridgecheck/ref/mcpserver"
	"bridgecheck/ref/plan"
)

// door is the agent's loopback port for one bridged server.
type door struct {
	server config.Server
	port   uint16
	// Where others on the host could come in, the door is the host's own port
	// and wants a token.
	token    string
	listener net.Listener
}

func (d *door) base() string { return fmt.Sprintf("http://127.0.0.1:%d", d.port) }

// url is for the transport that the server offers first.
func (d *door) url() string { return d.base() + endpoints[d.transports()[0]] }

// openDoors gives each bridged server its port: in the sandbox's own network
// the declared one or the next free, in a shared network an ephemeral one.
func (p *phase) openDoors() error {
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
		switch {
		case p.spec.Agent == nil: // nobody comes in
		case p.plan.Mode == plan.Shared:
			if err := d.listen(); err != nil {
				return err
			}
			p.later(d.close)
		case d.port == 0:
			for taken[next] {
				next++
			}
			taken[next] = true
			d.port = uint16(next)
		}
		p.doors = append(p.doors, d)
	}
	return p.openSockets()
}

// openSockets makes the directory of the servers' sockets, which an agent that
// speaks MCP over them gets to see, and no other does.
func (p *phase) openSockets() error {
	p.sockets = ""
	if p.spec.Agent == nil || !slices.Contains(p.spec.Agent.Transports, "unix") || len(p.doors) == 0 {
		return nil
	}
	dir, err := p.runtimeDir()
	if err != nil {
		return err
	}
	p.sockets = filepath.Join(dir, "doors")
	if err := os.Mkdir(p.sockets, 0o700); err != nil {
		return fmt.Errorf("make the directory of the sockets: %w", err)
	}
	return nil
}

func (d *door) listen() error {
	l, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		return fmt.Errorf("open a port of the host for server %s: %w", d.server.Name, err)
	}
	d.listener, d.port, d.token = l, uint16(l.Addr().(*net.TCPAddr).Port), rand.Text()
	return nil
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
		ports = append(ports, d.port)
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

// handler serves the MCP endpoint of the door's server, for whoever may enter.
func (p *phase) handler(d *door) http.Handler {
	h := p.manager.Handler(d.server.Name)
	if d.token != "" {
		return adapter.RequireBearer(d.token, h)
	}
	return h
}

// list tells the doors as events do: never their tokens.
func (p *phase) list() []event.Door {
	doors := []event.Door{}
	add := func(d *door, kind, base string) {
		for _, transport := range d.transports() {
			doors = append(doors, event.Door{Server: d.server.Name, Kind: kind, Transport: transport, URL: base + endpoints[transport]})
		}
	}
	for _, d := range p.doors {
		if p.spec.Agent == nil {
			continue
		}
		add(d, "loopback", d.base())
		if p.sockets != "" {
			// HTTP, at /mcp of whatever host the client likes to call it.
			doors = append(doors, event.Door{Server: d.server.Name, Kind: "unix", Transport: "http", URL: "unix:" + mcpserver.SocketPath(p.sockets, d.server.Name)})
		}
		if !p.plan.Proxy {
			continue
		}
		for _, name := range d.server.Authorities() {
			if a, err := egress.ParseAuthority(name); err == nil {
				add(d, "proxy", "http://"+strings.TrimSuffix(a.String(), ":80"))
			}
		}
		if slices.Contains(d.transports(), "http") {
			doors = append(doors, event.Door{
				Server: d.server.Name, Kind: "path", Transport: "http", URL: fmt.Sprintf("http://127.0.0.1:%d/mcp/%s", config.ProxyPort, d.server.Name),
			})
		}
	}
	return doors
}

// endpoints are where an adapter serves each transport.
var endpoints = map[string]string{"http": "/mcp", "sse": "/sse"}

// transports are those that the server is offered by: http unless it says so.
func (d *door) transports() []string {
	if len(d.server.Transports) == 0 {
		return []string{"http"}
	}
	return d.server.Transports
}
