package probe_test

import (
	"io"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"

	"github.com/vishvananda/netlink"

	"bridgecheck/fakes/dns"
	"bridgecheck/fakes/mcp"
	"bridgecheck/fakes/upstream"
)

// Where the servers of the lab listen, in the probe's own namespace.
const (
	labHTTP      = "127.0.0.1:8001"
	labTLS       = "127.0.0.1:8002"
	labSink      = "127.0.0.1:8003"
	labBlackHole = "127.0.0.1:8004"
	labMCP       = "127.0.0.1:8085"
	labMCPSocket = "@lab-mcp"
	labProxy     = "127.0.0.1:18080"
	labDNS       = "127.0.0.1:53"
)

// lab sets lo up and starts the servers; they end with the process.
func lab() error {
	lo, err := netlink.LinkByName("lo")
	if err != nil {
		return err
	}
	if err := netlink.LinkSetUp(lo); err != nil {
		return err
	}
	for addr, kind := range map[string]upstream.Kind{
		labHTTP: upstream.HTTP, labTLS: upstream.TLS, labSink: upstream.Sink, labBlackHole: upstream.BlackHole,
	} {
		if _, err := upstream.Start(addr, kind); err != nil {
			return err
		}
	}
	names, err := dns.Start(labDNS)
	if err != nil {
		return err
	}
	names.Set("two.test", dns.Addresses("203.0.113.1", "2001:db8::1"))
	names.Set("silent.test", dns.Silence())
	if err := serve("tcp", labProxy, http.HandlerFunc(proxy)); err != nil {
		return err
	}
	handler := mcp.Handler(mcp.Options{Name: "lab", Nonce: "lab-nonce", AnyHost: true})
	if err := serve("unix", labMCPSocket, handler); err != nil {
		return err
	}
	return serve("tcp", labMCP, handler)
}

func serve(network, address string, handler http.Handler) error {
	socket, err := net.Listen(network, address)
	if err != nil {
		return err
	}
	go func() { _ = http.Serve(socket, handler) }()
	return nil
}

// proxied are the names that the lab's proxy knows.
var proxied = map[string]string{
	"web.test:80": labHTTP, "web.test": labHTTP, "secure.test:443": labTLS, "mcp.test:80": labMCP, "mcp.test": labMCP,
}

// proxy does CONNECT and absolute form for the names it knows, and says so when
// it does not.
func proxy(w http.ResponseWriter, r *http.Request) {
	target, known := proxied[r.Host]
	if !known {
		c, _, err := http.NewResponseController(w).Hijack()
		if err != nil {
			return
		}
		_, _ = io.WriteString(c, "HTTP/1.1 403 Not on the list\r\nX-Why: policy\r\nContent-Length: 2\r\n\r\nno")
		_ = c.Close()
		return
	}
	if r.Method != http.MethodConnect {
		httputil.NewSingleHostReverseProxy(&url.URL{Scheme: "http", Host: target}).ServeHTTP(w, r)
		return
	}
	upstream, err := net.Dial("tcp", target)
	if err != nil {
		return
	}
	c, buffered, err := http.NewResponseController(w).Hijack()
	if err != nil {
		return
	}
	_, _ = io.WriteString(c, "HTTP/1.1 200 Connected\r\n\r\n")
	go func() { _, _ = io.Copy(upstream, buffered); _ = upstream.(*net.TCPConn).CloseWrite() }()
	_, _ = io.Copy(c, upstream)
	_ = c.Close()
}
