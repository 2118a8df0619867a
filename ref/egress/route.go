package egress

import (
	"net/http"
	"slices"
	"strings"
)

// Route sends requests in origin form, by the prefix of their path, to a
// handler.
type Route struct {
	// Prefix begins with a slash. It matches the path that equals it and what
	// lies below it, byte for byte; the longest wins. "/" matches all.
	Prefix string
	// Except are prefixes of what the route does not match, of the same kind.
	Except []string
	// Server names the handler in decisions.
	Server  string
	Handler http.Handler
}

// route serves a request in origin form. Only a path that means the same to
// everybody is looked at: dot segments, empty segments and encoded separators
// could lead elsewhere than they seem to.
func (c *conn) route(h *head, raw []byte) bool {
	path, _, _ := strings.Cut(h.path, "?")
	d := Decision{Asked: path, Verdict: Allow}
	if why := unclear(path); why != "" {
		d.Verdict, d.Reason, d.Detail = Deny, ReasonMalformed, quote(path)+" has "+why
		return c.refuse(h, d)
	}
	var best *Route
	for i, r := range c.p.cfg.Routes {
		if r.matches(path) && (best == nil || len(r.Prefix) > len(best.Prefix)) {
			best = &c.p.cfg.Routes[i]
		}
	}
	if best == nil {
		d.Verdict, d.Reason = Deny, ReasonUnknownRoute
		d.Detail = "no route for path " + quote(path) + ": to use the proxy, send http://host/path or CONNECT host:port"
		return c.refuse(h, d)
	}
	d.Server = best.Server
	return c.serveHandler(h, raw, VirtualServer{Name: best.Server, Handler: best.Handler}, &d)
}

func (r Route) matches(path string) bool {
	return below(path, r.Prefix) && !slices.ContainsFunc(r.Except, func(p string) bool { return below(path, p) })
}

func below(path, prefix string) bool {
	rest, ok := strings.CutPrefix(path, prefix)
	return ok && (rest == "" || rest[0] == '/' || strings.HasSuffix(prefix, "/"))
}

// unclear says why a path could be read in two ways, "" for a clear one.
func unclear(path string) string {
	lower := strings.ToLower(path)
	for _, code := range []string{"%2f", "%5c", "%2e", "%00"} {
		if strings.Contains(lower, code) {
			return "the encoded character " + code
		}
	}
	if strings.ContainsRune(path, '\\') {
		return "a backslash"
	}
	segments := strings.Split(path[1:], "/")
	for i, s := range segments {
		switch {
		case s == "." || s == "..":
			return "a dot segment"
		case s == "" && i < len(segments)-1:
			return "an empty segment"
		}
	}
	return ""
}
