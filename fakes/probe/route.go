package probe

import (
	"bufio"
	"context"
	"crypto/tls"
	"encoding/base64"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"os"
	"strings"

	"golang.org/x/net/http/httpproxy"

	"bridgecheck/fakes/styles"
)

// target is a URL taken apart by hand: url.Parse would tidy up the very paths
// that a check wants on the wire as they are.
type target struct {
	scheme, authority, path string
}

func parseTarget(raw string) (target, error) {
	scheme, rest, found := strings.Cut(raw, "://")
	if !found || (scheme != "http" && scheme != "https") {
		return target{}, &noAttempt{fmt.Sprintf("%q is no http or https URL", raw)}
	}
	t := target{scheme: scheme, authority: rest, path: "/"}
	if i := strings.IndexAny(rest, "/?"); i >= 0 {
		t.authority, t.path = rest[:i], rest[i:]
	}
	return t, nil
}

// hostPort is the authority with the scheme's default port where it has none.
func (t target) hostPort() string {
	if _, _, err := net.SplitHostPort(t.authority); err == nil {
		return t.authority
	}
	return t.authority + map[string]string{"http": ":80", "https": ":443"}[t.scheme]
}

// hostname is the host without port and brackets.
func (t target) hostname() string {
	host, _, err := net.SplitHostPort(t.hostPort())
	if err != nil {
		return t.authority
	}
	return host
}

// The ways out of an HTTP client.
const (
	viaDirect      = "direct"
	viaProxy       = "proxy"
	viaConnect     = "connect"
	viaEnvironment = "environment"
	// viaStyle is followed by the name of a style (fakes/styles).
	viaStyle = "style:"
)

// way decides how a request goes out: the kind, and the proxy for it. The proxy
// is override (host:port) or the one that the environment names.
func way(via, override string, t target) (kind string, proxy *url.URL, err error) {
	switch via {
	case "", viaDirect:
		return viaDirect, nil, nil
	case viaEnvironment:
		destination := &url.URL{Scheme: t.scheme, Host: t.authority}
		proxy, err := httpproxy.FromEnvironment().ProxyFunc()(destination)
		switch {
		case err != nil:
			return "", nil, err
		case proxy == nil:
			return viaDirect, nil, nil
		case t.scheme == "https":
			return viaConnect, proxy, nil
		}
		return viaProxy, proxy, nil
	case viaProxy, viaConnect:
		proxy, err := proxyURL(override)
		return via, proxy, err
	}
	if name, found := strings.CutPrefix(via, viaStyle); found {
		return styled(name, t)
	}
	return "", nil, &noAttempt{"unknown via " + via}
}

// styled goes out as another client would.
func styled(name string, t target) (kind string, proxy *url.URL, err error) {
	style, found := styles.Find(name)
	if !found {
		return "", nil, &noAttempt{"unknown style " + name}
	}
	host, port, err := net.SplitHostPort(t.hostPort())
	if err != nil {
		return "", nil, err
	}
	way, by := style.Choose(os.Getenv, host, port)
	if way == styles.Direct {
		return viaDirect, nil, nil
	}
	if proxy, err = url.Parse(by); err != nil {
		return "", nil, err
	}
	if way == styles.Tunnel || t.scheme == "https" {
		return viaConnect, proxy, nil
	}
	return viaProxy, proxy, nil
}

// manners are the headers that the style adds to a request to a proxy.
func manners(via, kind string) map[string]string {
	style, _ := styles.Find(strings.TrimPrefix(via, viaStyle))
	if kind != viaProxy || !style.KeepAlive {
		return nil
	}
	return map[string]string{"Proxy-Connection": "Keep-Alive"}
}

// proxyURL reads the override or the first proxy variable that is set.
func proxyURL(override string) (*url.URL, error) {
	if override != "" {
		return &url.URL{Scheme: "http", Host: override}, nil
	}
	for _, name := range []string{"HTTP_PROXY", "http_proxy", "HTTPS_PROXY", "https_proxy", "ALL_PROXY", "all_proxy"} {
		if value := os.Getenv(name); value != "" {
			return url.Parse(value)
		}
	}
	return nil, &noAttempt{"no proxy: neither an address nor a proxy variable is set"}
}

// authorization is the Proxy-Authorization value for a proxy URL, or "".
func authorization(proxy *url.URL) string {
	if proxy.User == nil {
		return ""
	}
	password, _ := proxy.User.Password()
	return "Basic " + base64.StdEncoding.EncodeToString([]byte(proxy.User.Username()+":"+password))
}

// tunnel asks the proxy for a tunnel to hostPort (RFC 9110 9.3.6). An answer
// other than 2xx comes back as the response, with the connection still open for
// its body.
func tunnel(ctx context.Context, proxy *url.URL, hostPort string) (*conn, *http.Response, error) {
	c, err := dialConn(ctx, "tcp", proxy.Host)
	if err != nil {
		return nil, nil, err
	}
	head := "CONNECT " + hostPort + " HTTP/1.1\r\nHost: " + hostPort + "\r\n"
	if credentials := authorization(proxy); credentials != "" {
		head += "Proxy-Authorization: " + credentials + "\r\n"
	}
	if _, err := c.Write([]byte(head + "\r\n")); err != nil {
		_ = c.Close()
		return nil, nil, err
	}
	response, err := http.ReadResponse(c.reader, &http.Request{Method: http.MethodConnect})
	if err != nil {
		_ = c.Close()
		return nil, nil, err
	}
	return c, response, nil
}

// encrypt wraps the connection in TLS. The certificate is not judged: what is
// tested is the way there, and the fakes make their own authorities.
func (c *conn) encrypt(ctx context.Context, serverName string) error {
	plain := &conn{Conn: c.Conn, reader: c.reader}
	client := tls.Client(buffered{plain}, &tls.Config{ServerName: serverName, InsecureSkipVerify: true}) //nolint:gosec // see above
	if err := client.HandshakeContext(ctx); err != nil {
		return err
	}
	c.Conn, c.reader = client, bufio.NewReader(client)
	return nil
}

// buffered reads through the connection's buffer, where bytes may wait already.
type buffered struct{ *conn }

func (b buffered) Read(p []byte) (int, error) { return b.reader.Read(p) }
