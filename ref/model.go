package ref

import (
	"crypto/sha256"
	"crypto/subtle"
	"fmt"
	"net"
	"net/http"
	"strings"

	"bridgecheck/ref/config"
	"bridgecheck/ref/egress"
	"bridgecheck/ref/plan"
)

// modelDoor is the agent's way to the model's API: what is left of the proxy
// port beside the servers and the routes, or a port of the host where the
// network is shared. There it wants the token in the place of a key: else
// everybody on the host could use the credential.
type modelDoor struct {
	url, token string
	listener   net.Listener
}

// openModel gives the agent its door to the model.
func (p *phase) openModel() error {
	if p.spec.Model == nil || p.spec.Agent == nil {
		return nil
	}
	p.model = &modelDoor{url: fmt.Sprintf("http://127.0.0.1:%d", config.ProxyPort)}
	if p.plan.Mode != plan.Shared {
		return nil
	}
	l, token, err := hostPort()
	if err != nil {
		return err
	}
	p.model = &modelDoor{url: "http://" + l.Addr().String(), token: token, listener: l}
	p.later(func() error {
		_ = l.Close() // its HTTP server may have closed it
		return nil
	})
	return nil
}

func (m *modelDoor) tell(env map[string]string) {
	if m == nil {
		return
	}
	env["BRIDGE_MODEL_URL"] = m.url
	if m.token != "" {
		env["BRIDGE_MODEL_TOKEN"] = m.token
	}
}

// serveModel serves the model's own port, where it has one.
func (p *phase) serveModel() error {
	if p.model == nil || p.model.listener == nil {
		return nil
	}
	resolver, err := egress.NewResolver(p.spec.Resolver)
	if err != nil {
		return err
	}
	h, err := p.modelAPI(resolver)
	if err != nil {
		return err
	}
	p.serveHTTP(requireKey(p.model.token, h), p.model.listener)
	return nil
}

// modelRoute is everything on the proxy port that is nothing else. What begins
// as the path of a server and is none stays unknown.
func (p *phase) modelRoute(resolver egress.Resolver) (egress.Route, error) {
	h, err := p.modelAPI(resolver)
	return egress.Route{Prefix: "/", Except: []string{"/mcp"}, Handler: h}, err
}

func (p *phase) modelAPI(resolver egress.Resolver) (http.Handler, error) {
	m := p.spec.Model
	return p.upstream("model", m.URL, resolver, func(out *http.Request) { replaceKey(out, m) })
}

// keyFields are where the clients of model APIs put their key, the particular
// before the general: Gemini's, Anthropic's, Azure's, OpenAI's. Gemini's may also
// stand in the query.
var keyFields = []string{"X-Goog-Api-Key", "X-Api-Key", "Api-Key", "Authorization"}

const keyQuery = "key"

// replaceKey puts the credential where the agent has put what it takes for its
// key; all that it has sent of that kind is removed. Without a credential the
// agent's own is passed on.
func replaceKey(out *http.Request, m *config.Model) {
	if m.Credential == "" {
		return
	}
	field := ""
	for _, f := range keyFields {
		if field == "" && out.Header.Get(f) != "" {
			field = f
		}
		out.Header.Del(f)
	}
	out.Header.Del("Cookie")
	if q := out.URL.Query(); q.Has(keyQuery) {
		q.Del(keyQuery)
		out.URL.RawQuery, field = q.Encode(), "X-Goog-Api-Key"
	}
	switch {
	case field == "" && out.Header.Get("Anthropic-Version") != "":
		field = "X-Api-Key"
	case field == "", field == "Authorization":
		out.Header.Set("Authorization", "Bearer "+m.Credential)
		return
	}
	out.Header.Set(field, m.Credential)
}

// requireKey lets through only a request whose key is the token.
func requireKey(token string, next http.Handler) http.Handler {
	want := sha256.Sum256([]byte(token))
	is := func(key string) bool {
		sum := sha256.Sum256([]byte(key))
		return subtle.ConstantTimeCompare(sum[:], want[:]) == 1
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		found := is(r.URL.Query().Get(keyQuery))
		for _, f := range keyFields {
			key := r.Header.Get(f)
			if scheme, rest, ok := strings.Cut(key, " "); ok && strings.EqualFold(scheme, "Bearer") {
				key = rest
			}
			found = found || is(key)
		}
		if !found {
			w.Header().Set("WWW-Authenticate", "Bearer")
			http.Error(w, "the key for this door is BRIDGE_MODEL_TOKEN", http.StatusUnauthorized)
			return
		}
		next.ServeHTTP(w, r)
	})
}
