// Package styles imitates how real HTTP clients find their way out: which proxy
// variables they read, in which case, what NO_PROXY means to them, and whether
// they ask the proxy for an http URL in absolute form or for a tunnel. It decides
// and connects nowhere. Each style names the client and the version that it was
// compared with, on Debian 12 with Node 20 and 24, in November 2026.
package styles

import (
	"net"
	"net/netip"
	"strings"
)

// Way is how a request goes out.
type Way string

// The ways.
const (
	Direct   Way = "direct"
	Absolute Way = "absolute" // POST http://host/path to the proxy
	Tunnel   Way = "tunnel"   // CONNECT host:port
)

// Style is one client.
type Style struct {
	Name string
	// Like is the client it imitates.
	Like string
	// Variables are read for http URLs, the first that is set counts.
	Variables []string
	// Switch is a variable without which no proxy is used at all.
	Switch string
	// Tunnels asks for a tunnel for http URLs too.
	Tunnels bool
	// NoProxy is what entries of NO_PROXY may be; 0: the list is not read.
	NoProxy Entries
	// LoopbackDirect goes to loopback addresses directly, whatever is set.
	LoopbackDirect bool
	// KeepAlive adds Proxy-Connection: Keep-Alive in absolute form.
	KeepAlive bool
}

// Entries are the kinds of entry of NO_PROXY that a client understands. All
// understand a name or an address that is equal.
type Entries int

// The kinds.
const (
	Equal      Entries = 1 << iota
	DotSuffix          // .example.test
	BareSuffix         // example.test, for what is below it
	StarSuffix         // *.example.test
	HostPort           // example.test:80
	CIDR               // 127.0.0.0/8
	Everything         // *
)

// both are the variables for http URLs, in the order of most clients.
var both = []string{"http_proxy", "HTTP_PROXY"}

// All are the styles.
var All = []Style{
	{
		Name: "curl", Like: "curl 7.88.1", Variables: []string{"http_proxy", "all_proxy", "ALL_PROXY"},
		NoProxy: Equal | DotSuffix | BareSuffix | CIDR | Everything,
	},
	{
		Name: "go", Like: "Go 1.26 net/http, mcp-go 1.2.1, go-sdk 1.8.0", Variables: []string{"HTTP_PROXY", "http_proxy"},
		NoProxy: Equal | DotSuffix | BareSuffix | StarSuffix | HostPort | CIDR | Everything, LoopbackDirect: true,
	},
	{Name: "python", Like: "Python 3.11 urllib", Variables: both, NoProxy: Equal | DotSuffix | BareSuffix | HostPort | Everything},
	{Name: "node-fetch", Like: "fetch of Node 20, and of Node 24 without NODE_USE_ENV_PROXY"},
	{
		Name: "node-fetch-env", Like: "fetch of Node 24 with NODE_USE_ENV_PROXY=1, Gemini CLI 0.61.0", Variables: both, Switch: "NODE_USE_ENV_PROXY",
		Tunnels: true, NoProxy: Equal | DotSuffix | BareSuffix | StarSuffix | HostPort | Everything,
	},
	{
		Name: "node-http-env", Like: "http module of Node 24 with NODE_USE_ENV_PROXY=1", Variables: both, Switch: "NODE_USE_ENV_PROXY",
		NoProxy: Equal | DotSuffix | StarSuffix | HostPort | Everything,
	},
	{
		Name: "bun", Like: "Claude Code 2.1.332", Variables: []string{"HTTP_PROXY", "http_proxy", "HTTPS_PROXY", "https_proxy", "ALL_PROXY", "all_proxy"},
		NoProxy: Equal | DotSuffix | BareSuffix | StarSuffix | HostPort | CIDR | Everything, KeepAlive: true,
	},
	{Name: "bun-strict", Like: "Opencode 1.18.33", Variables: both, NoProxy: Equal | DotSuffix | BareSuffix | HostPort | Everything},
	{
		Name: "reqwest", Like: "Codex 0.171.0", Variables: []string{"HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"},
		NoProxy: Equal | DotSuffix | BareSuffix | CIDR | Everything,
	},
	{Name: "loopback-absolute", Like: "Claude Code as reported in September 2025, whose MCP client read no NO_PROXY", Variables: both, KeepAlive: true},
	{Name: "loopback-tunnel", Like: "Qwen Code 0.15.10, which reads no NO_PROXY", Variables: both, Tunnels: true},
}

// Find returns the style of that name.
func Find(name string) (Style, bool) {
	for _, s := range All {
		if s.Name == name {
			return s, true
		}
	}
	return Style{}, false
}

// Choose tells how the client goes to host and port of an http URL, and by which
// proxy (its URL). env looks up a variable, as os.Getenv does.
func (s Style) Choose(env func(string) string, host, port string) (Way, string) {
	if s.Switch != "" && env(s.Switch) == "" {
		return Direct, ""
	}
	proxy := first(env, s.Variables...)
	loopback := false
	if address, err := netip.ParseAddr(host); err == nil {
		loopback = address.IsLoopback()
	}
	switch {
	case proxy == "",
		s.LoopbackDirect && (loopback || host == "localhost"),
		s.NoProxy != 0 && s.NoProxy.match(first(env, "no_proxy", "NO_PROXY"), host, port):
		return Direct, ""
	case s.Tunnels:
		return Tunnel, proxy
	}
	return Absolute, proxy
}

func first(env func(string) string, names ...string) string {
	for _, name := range names {
		if value := env(name); value != "" {
			return value
		}
	}
	return ""
}

// match tells whether the list covers the host.
func (e Entries) match(list, host, port string) bool {
	for _, entry := range strings.FieldsFunc(list, func(r rune) bool { return r == ',' || r == ' ' }) {
		if e.covers(strings.ToLower(entry), strings.ToLower(host), port) {
			return true
		}
	}
	return false
}

func (e Entries) covers(entry, host, port string) bool {
	has := func(kind Entries) bool { return e&kind != 0 }
	if prefix, err := netip.ParsePrefix(entry); err == nil {
		address, err := netip.ParseAddr(host)
		return err == nil && has(CIDR) && prefix.Contains(address)
	}
	if h, p, err := net.SplitHostPort(entry); err == nil {
		return has(HostPort) && h == host && p == port
	}
	switch suffix, star := strings.CutPrefix(entry, "*"); {
	case entry == "*":
		return has(Everything)
	case star:
		return has(StarSuffix) && strings.HasSuffix(host, suffix)
	case strings.HasPrefix(entry, "."):
		return has(DotSuffix) && (strings.HasSuffix(host, entry) || host == entry[1:])
	}
	return entry == host || strings.Trim(entry, "[]") == host || has(BareSuffix) && strings.HasSuffix(host, "."+entry)
}
