package ref

import (
	"errors"
	"fmt"
	"net"
	"net/http"
	"slices"
	"strings"
	"time"

	"bridgecheck/ref/config"
	"bridgecheck/ref/egress"
	"bridgecheck/ref/event"
	"bridgecheck/ref/plan"
	"bridgecheck/ref/relay"
)

// The limits that hold when a specification sets none; `describe` tells them.
const (
	defaultConnections = 1024
	defaultHeadBytes   = 64 << 10
	defaultIdle        = 10 * time.Minute
)

// serve accepts on every door. Until the agent starts nobody knocks.
func (p *phase) serve() error {
	if p.box == nil {
		return nil
	}
	for _, d := range p.doors {
		if d.unix != nil {
			p.serveHTTP(offer(p.manager.Handler(d.server.Name), d.server.Offered()...), d.unix.listener)
		}
	}
	if p.plan.Mode == plan.Shared {
		for _, d := range p.doors {
			p.serveHTTP(p.handler(d), d.listener)
		}
		return p.serveModel()
	}
	if p.foreignProxy() {
		return nil
	}
	byPort := map[uint16][]net.Listener{}
	for _, l := range p.box.Listeners() {
		byPort[l.Port] = append(byPort[l.Port], l)
	}
	for _, d := range p.doors {
		if d.prefix != "" {
			continue // the proxy serves it
		}
		p.serveHTTP(p.handler(d), byPort[d.port]...)
	}
	for _, r := range p.spec.Relays {
		p.serveRelay(r, byPort[uint16(r.Port)])
	}
	if !p.plan.Proxy {
		return nil
	}
	return p.serveProxy(byPort[config.ProxyPort])
}

func (p *phase) serveRelay(r config.Relay, listeners []net.Listener) {
	rl := relay.New(relay.Config{
		Socket: r.UnixSocket, Idle: p.limits().IdleTimeout, Connections: p.limits().Connections,
		OnFailure: func(err error) {
			reason := egress.ReasonConnRefused
			if errors.Is(err, relay.ErrBusy) {
				reason = egress.ReasonConnections
			}
			p.opt.Events.Emit(event.Decision{
				Target: fmt.Sprintf("127.0.0.1:%d", r.Port), Rule: "unix:" + r.UnixSocket, Verdict: "error", Reason: string(reason),
			})
		},
	})
	for _, l := range listeners {
		go func() { _ = rl.Serve(l) }() // ends with Close
	}
	p.later(rl.Close)
}

func (p *phase) serveProxy(listeners []net.Listener) error {
	cfg := egress.Config{
		Name: "refbridge", Policy: p.plan.Policy, Limits: p.limits(), OnDecision: p.decided, Log: p.opt.Log,
		Virtual: map[egress.Authority]egress.VirtualServer{}, Loopback: map[uint16]egress.VirtualServer{},
		Self: []uint16{config.ProxyPort},
	}
	if o := p.spec.Proxy; o != nil {
		cfg.RefuseStatus, cfg.SNICheck = o.RefuseStatus, o.SNICheck
	}
	var err error
	if cfg.Resolver, err = egress.NewResolver(p.spec.Resolver); err != nil {
		return err
	}
	for _, d := range p.doors {
		server := egress.VirtualServer{Name: d.server.Name, Handler: p.endpoints(d)}
		if d.prefix == "" {
			cfg.Loopback[d.port] = server
		}
		for _, name := range d.server.Authorities() {
			a, err := egress.ParseAuthority(name)
			if err != nil {
				return fmt.Errorf("name %s of server %s: %w", name, d.server.Name, err)
			}
			cfg.Virtual[a] = server
		}
	}
	if cfg.Routes, err = p.routes(cfg.Resolver); err != nil {
		return err
	}
	proxy, err := egress.New(cfg)
	if err != nil {
		return err
	}
	for _, l := range listeners {
		go func() {
			// The sandbox closes its listeners when the agent has ended.
			if err := proxy.Serve(l); err != nil && !errors.Is(err, net.ErrClosed) {
				p.opt.Log.Error("egress proxy", "error", err)
			}
		}()
	}
	p.later(proxy.Close)
	return nil
}

func (p *phase) limits() egress.Limits {
	l := egress.Limits{Connections: defaultConnections, HeadBytes: defaultHeadBytes, IdleTimeout: defaultIdle}
	if n := behindRelay(p.about); n > 0 {
		l.Connections = min(l.Connections, n)
	}
	if own := p.spec.Limits; own != nil {
		set(&l.Connections, own.Connections)
		set(&l.HeadBytes, own.HeadBytes)
		l.HeadTimeout = milliseconds(own.HeadMS)
	}
	if t := p.spec.Timeouts; t != nil {
		set(&l.IdleTimeout, milliseconds(t.IdleMS))
		l.ConnectTimeout = milliseconds(t.ConnectMS)
	}
	return l
}

func set[T int | time.Duration](v *T, own T) {
	if own > 0 {
		*v = own
	}
}

func (p *phase) decided(d egress.Decision) {
	e := event.Decision{
		Target: d.Target(), Rule: d.Rule, Server: d.Server, Verdict: d.Verdict.String(), Reason: string(d.Reason),
	}
	if d.Dialled.IsValid() {
		e.Dialled = d.Dialled.String()
	}
	p.opt.Events.Emit(e)
}

// routes are /mcp/NAME for every bridged server, those of the specification, and
// the model for the rest.
func (p *phase) routes(resolver egress.Resolver) (routes []egress.Route, err error) {
	for _, d := range p.doors {
		prefix := routeTo(d.server.Name)
		if slices.ContainsFunc(p.spec.Routes, func(r config.Route) bool { return r.Prefix == prefix }) {
			continue
		}
		routes = append(routes, egress.Route{Prefix: prefix, Server: d.server.Name, Handler: endpoint(prefix, p.endpoints(d))})
	}
	for _, r := range p.spec.Routes {
		route := egress.Route{Prefix: r.Prefix, Server: r.Server}
		if r.Server != "" {
			route.Handler = endpoint(r.Prefix, p.endpoints(p.doorTo(r.Server)))
		} else if route.Handler, err = p.urlRoute(r, resolver); err != nil {
			return nil, err
		}
		routes = append(routes, route)
	}
	if p.spec.Model != nil {
		route, err := p.modelRoute(resolver)
		if err != nil {
			return nil, err
		}
		routes = append(routes, route)
	}
	return routes, nil
}

// routeTo is the path of a server on the proxy port.
func routeTo(server string) string { return "/mcp/" + server }

// endpoint serves a server below a prefix: the prefix itself is the MCP endpoint,
// and what is below it the two of HTTP with SSE. Nothing else leads anywhere.
func endpoint(prefix string, h http.Handler) http.Handler {
	below := strings.TrimSuffix(prefix, "/")
	leads := map[string]string{prefix: "/mcp", below + "/sse": "/sse", below + "/messages": "/messages"}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		path, ok := leads[r.URL.Path]
		if !ok {
			http.NotFound(w, r)
			return
		}
		r = r.Clone(r.Context())
		r.URL.Path, r.URL.RawPath = path, ""
		h.ServeHTTP(w, r)
	})
}

// urlRoute sends what lies below the prefix to the route's URL, with the route's
// headers in place of the agent's own.
func (p *phase) urlRoute(r config.Route, resolver egress.Resolver) (http.Handler, error) {
	h, err := p.upstream("route "+r.Prefix, r.URL, resolver, func(out *http.Request) {
		for key, value := range r.Headers {
			out.Header.Set(key, value)
		}
	})
	return http.StripPrefix(r.Prefix, h), err
}
