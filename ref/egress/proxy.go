package egress

import (
	"context"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"sync"
)

// Config says what a proxy serves. Only Policy is needed for one that is useful.
type Config struct {
	// Name is the proxy's in Proxy-Status and Via, a token; default "egress".
	Name string
	// Policy judges every target that is no server of ours; nil denies all.
	Policy *Policy
	// Virtual are the authorities given to servers. They never go through DNS
	// and need no rule; no rule touches them.
	Virtual map[Authority]VirtualServer
	// Loopback are declared ports: 127.0.0.1, [::1] and localhost with such a
	// port mean the server, for clients that ignore NO_PROXY. Any other
	// loopback target needs a rule that names the address.
	Loopback map[uint16]VirtualServer
	// Routes serve requests in origin form.
	Routes []Route
	// Self are the loopback ports by which clients know the proxy. A request
	// to the proxy for one of them is served by Routes.
	Self []uint16
	// Resolver looks up allowed names; default NewResolver("").
	Resolver Resolver
	// RefuseStatus answers a refused request in absolute form: 502 (the
	// default, since agents take a 403 for missing authorization) or 403.
	RefuseStatus int
	// SNICheck cuts a tunnel whose ClientHello names another host than CONNECT.
	SNICheck bool
	Limits   Limits
	// OnDecision is told every decision, from the goroutine that serves the
	// request; it must be safe for concurrent use and not block.
	OnDecision func(Decision)
	// Log gets what is no decision: accept errors, panics of handlers. Default
	// is nothing.
	Log *slog.Logger
}

// VirtualServer is a server behind the proxy. Its handler may stream; a client
// that is gone cancels the request's context, one that ended only its sending
// does not. It must return once the context is done.
type VirtualServer struct {
	Name    string
	Handler http.Handler
}

// Proxy is an HTTP proxy with an allow list.
type Proxy struct {
	cfg       Config
	transport *http.Transport
	base      context.Context // ends with the proxy
	cancel    context.CancelFunc
	refusers  chan struct{}

	mu        sync.Mutex
	wg        sync.WaitGroup
	closing   bool
	listeners map[net.Listener]struct{}
	conns     map[net.Conn]bool // true while it waits for a request
}

// New makes a proxy; it serves nothing yet and holds nothing.
func New(cfg Config) (*Proxy, error) {
	if cfg.Name == "" {
		cfg.Name = "egress"
	}
	if cfg.RefuseStatus == 0 {
		cfg.RefuseStatus = http.StatusBadGateway
	}
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.DiscardHandler)
	}
	if cfg.OnDecision == nil {
		cfg.OnDecision = func(Decision) {}
	}
	if cfg.Resolver == nil {
		cfg.Resolver, _ = NewResolver("")
	}
	cfg.Limits = cfg.Limits.withDefaults()
	if most := descriptorsAllow(); cfg.Limits.Connections > most {
		cfg.Log.Warn("fewer connections than configured: raise the descriptor limit (ulimit -n)",
			"connections", most, "configured", cfg.Limits.Connections)
		cfg.Limits.Connections = most
	}
	if err := cfg.check(); err != nil {
		return nil, fmt.Errorf("egress proxy: %w", err)
	}
	p := &Proxy{cfg: cfg, listeners: map[net.Listener]struct{}{}, conns: map[net.Conn]bool{}}
	p.refusers = make(chan struct{}, maxRefusers)
	// The key makes httputil.ReverseProxy end an answer that is cut short as
	// net/http would; without it the client took it for whole.
	p.base, p.cancel = context.WithCancel(context.WithValue(context.Background(), http.ServerContextKey, new(http.Server)))
	p.transport = p.newTransport()
	return p, nil
}

func (cfg *Config) check() error {
	if !isToken(cfg.Name) {
		return fmt.Errorf("name %s is not a token: letters, digits and hyphens are", quote(cfg.Name))
	}
	if cfg.RefuseStatus != http.StatusBadGateway && cfg.RefuseStatus != http.StatusForbidden {
		return fmt.Errorf("refuse status %d: it is 502 or 403", cfg.RefuseStatus)
	}
	for a, v := range cfg.Virtual {
		if again, err := ParseAuthority(a.String()); err != nil || again != a {
			return fmt.Errorf("server %s: its name %s is not canonical: take it from ParseAuthority", quote(v.Name), quote(a.String()))
		}
		if v.Handler == nil {
			return fmt.Errorf("server %s: no handler", quote(v.Name))
		}
	}
	for port, v := range cfg.Loopback {
		if port == 0 || v.Handler == nil {
			return fmt.Errorf("server %s: loopback port %d without a handler", quote(v.Name), port)
		}
	}
	seen := map[string]bool{}
	for _, r := range cfg.Routes {
		if r.Prefix == "" || r.Prefix[0] != '/' || unclear(r.Prefix) != "" || seen[r.Prefix] || r.Handler == nil {
			return fmt.Errorf("route %s: a prefix begins with a slash, has no dot or empty segment, stands once and has a handler", quote(r.Prefix))
		}
		seen[r.Prefix] = true
	}
	return nil
}

// judge finds what an authority means: a server of ours, or a matter of policy.
func (p *Proxy) judge(a Authority) (Decision, VirtualServer) {
	server, ok := p.cfg.Virtual[a]
	if !ok && a.isOwnLoopback() {
		server, ok = p.cfg.Loopback[a.Port]
	}
	if ok {
		return Decision{Authority: a, Verdict: Allow, Server: server.Name}, server
	}
	return p.cfg.Policy.Decide(a), VirtualServer{}
}

func (p *Proxy) isSelf(a Authority) bool {
	return a.isOwnLoopback() && slices.Contains(p.cfg.Self, a.Port)
}

// isOwnLoopback tells the authorities that a client uses for the sandbox's own
// loopback.
func (a Authority) isOwnLoopback() bool {
	return a.Name == "localhost" || a.Addr == netip.AddrFrom4([4]byte{127, 0, 0, 1}) || a.Addr == netip.IPv6Loopback()
}

func (p *Proxy) decided(d Decision) { p.cfg.OnDecision(d) }

// Limits are those in force.
func (p *Proxy) Limits() Limits { return p.cfg.Limits }

func remote(c net.Conn) netip.AddrPort {
	ap, err := netip.ParseAddrPort(c.RemoteAddr().String())
	if err != nil {
		return netip.AddrPort{}
	}
	return netip.AddrPortFrom(ap.Addr().Unmap(), ap.Port())
}

// handleConn serves one accepted connection and closes it.
func (p *Proxy) handleConn(nc net.Conn) {
	defer nc.Close()
	c := &conn{Conn: nc, p: p, src: source{conn: nc}}
	c.serve(nil)
}
