package ref

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httputil"
	"net/netip"
	"net/url"
	"time"

	"bridgecheck/ref/adapter"
	"bridgecheck/ref/egress"
)

// defaultConnect is for a lookup and all dials together.
const defaultConnect = 10 * time.Second

// upstream sends requests to a URL of the specification, streams as they come.
// The URL is the host's own: no rule judges it, and TLS is verified as for
// anybody. change may set what the agent is not to know; name is for the log.
func (p *phase) upstream(name, to string, resolver egress.Resolver, change func(*http.Request)) (http.Handler, error) {
	target, err := url.Parse(to)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	transport := &http.Transport{
		// No proxy of the host's environment: the resolver is that of the
		// specification, and nobody else may see what is sent.
		DialContext:         p.dialer(resolver),
		ForceAttemptHTTP2:   true,
		DisableCompression:  true, // bytes are the agent's business
		TLSHandshakeTimeout: defaultConnect,
		IdleConnTimeout:     time.Minute,
	}
	p.later(func() error {
		transport.CloseIdleConnections()
		return nil
	})
	proxy := &httputil.ReverseProxy{
		Transport:     transport,
		FlushInterval: -1, // streams pass event by event
		ErrorLog:      p.quietLog(),
		Rewrite: func(pr *httputil.ProxyRequest) {
			pr.SetURL(target)
			change(pr.Out)
		},
		ErrorHandler: func(w http.ResponseWriter, r *http.Request, err error) {
			if r.Context().Err() == nil {
				p.opt.Log.Warn("upstream", "name", name, "error", err)
			}
			http.Error(w, "the bridge got no answer from "+target.Host, http.StatusBadGateway)
		},
	}
	// The proxy's port is nobody's origin: a page in a browser of the agent's gets
	// nothing by it.
	return adapter.Guard(isLoopback, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodTrace { // its answer would be the request with all we have put into it
			http.Error(w, "TRACE is not passed on", http.StatusMethodNotAllowed)
			return
		}
		proxy.ServeHTTP(w, r)
	})), nil
}

// isLoopback tells the names by which the door itself is known.
func isLoopback(host string) bool {
	return host == "127.0.0.1" || host == "::1" || host == "localhost"
}

// dialer looks names up by the resolver and tries their addresses in turn, each
// with its share of the time.
func (p *phase) dialer(resolver egress.Resolver) func(context.Context, string, string) (net.Conn, error) {
	bound := p.limits().ConnectTimeout
	if bound <= 0 {
		bound = defaultConnect
	}
	return func(ctx context.Context, network, address string) (net.Conn, error) {
		ctx, cancel := context.WithTimeout(ctx, bound)
		defer cancel()
		host, port, err := net.SplitHostPort(address)
		if err != nil {
			return nil, err
		}
		var addrs []netip.Addr
		if ip, err := netip.ParseAddr(host); err == nil {
			addrs = []netip.Addr{ip}
		} else if addrs, err = resolver.LookupNetIP(ctx, "ip", host); err != nil {
			return nil, err
		}
		var errs []error
		for i, ip := range addrs {
			deadline, _ := ctx.Deadline()
			d := net.Dialer{Timeout: time.Until(deadline) / time.Duration(len(addrs)-i)}
			conn, err := d.DialContext(ctx, network, net.JoinHostPort(ip.Unmap().String(), port))
			if err == nil {
				return conn, nil
			}
			errs = append(errs, err)
		}
		return nil, errors.Join(append(errs, ctx.Err())...)
	}
}
