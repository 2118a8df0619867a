package ref

import (
	"fmt"
	"net/http"
	"net/http/httputil"
	"net/url"
	"strings"

	"bridgecheck/ref/adapter"
	"bridgecheck/ref/config"
	"bridgecheck/ref/egress"
)

// modelRoute leads every path that is no other route's to the model API. It is
// the agent's only way there, and takes no key of the agent's.
func (p *phase) modelRoute() (egress.Route, error) {
	m := p.spec.Model
	to, err := url.Parse(m.URL)
	if err != nil {
		return egress.Route{}, fmt.Errorf("model: %w", err)
	}
	api := p.reverse(to, func(h http.Header) { authorize(h, m.Credential) })
	return egress.Route{Prefix: "/", Server: "model", Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/mcp" || strings.HasPrefix(r.URL.Path, "/mcp/") {
			http.NotFound(w, r) // a server of another name, which is no question to a model
			return
		}
		api.ServeHTTP(w, r)
	})}, nil
}

// authorize puts the credential where the client has put its own, whatever that
// was: Anthropic, OpenAI and Gemini each look in another place.
func authorize(h http.Header, credential string) {
	if credential == "" {
		return
	}
	found := false
	for _, name := range []string{"X-Api-Key", "X-Goog-Api-Key"} {
		if _, sent := h[name]; sent {
			h.Set(name, credential)
			found = true
		}
	}
	if _, sent := h["Authorization"]; sent || !found {
		h.Set("Authorization", "Bearer "+credential)
	}
}

// upstream sends what lies below the prefix to the route's URL, with the
// route's headers in place of the agent's own.
func (p *phase) upstream(r config.Route) (http.Handler, error) {
	to, err := url.Parse(r.URL)
	if err != nil {
		return nil, fmt.Errorf("route %s: %w", r.Prefix, err)
	}
	return http.StripPrefix(r.Prefix, p.reverse(to, func(h http.Header) {
		for key, value := range r.Headers {
			h.Set(key, value)
		}
	})), nil
}

// reverse passes requests on, with headers that edit may change. A page of
// another origin in a browser of the agent's gets nothing by it.
func (p *phase) reverse(to *url.URL, edit func(http.Header)) http.Handler {
	return adapter.Guard(isLoopback, &httputil.ReverseProxy{
		FlushInterval: -1, // streams pass event by event
		ErrorLog:      p.quietLog(),
		Rewrite: func(pr *httputil.ProxyRequest) {
			pr.SetURL(to)
			edit(pr.Out.Header)
		},
	})
}

// isLoopback tells the names by which the proxy's own port is known.
func isLoopback(host string) bool {
	return host == "127.0.0.1" || host == "::1" || host == "localhost"
}
