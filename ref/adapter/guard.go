package adapter

import (
	"crypto/sha256"
	"crypto/subtle"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strings"

	"bridgecheck/ref/adapter/jsonrpc"
)

// checkSource refuses requests that a web page sent by DNS rebinding: Host and,
// where there is one, Origin must name this server.
// https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#security-warning
func checkSource(r *http.Request, allow func(string) bool) error {
	if !allow(hostname(r.Host)) {
		return fmt.Errorf("host %q is not a name of this server", r.Host)
	}
	for _, origin := range r.Header.Values("Origin") {
		u, err := url.Parse(origin)
		if err != nil || u.Host == "" || !allow(hostname(u.Host)) {
			return fmt.Errorf("origin %q is not a name of this server", origin)
		}
	}
	return nil
}

// Guard lets only requests from where allow says through to next; see
// [Options.AllowHost]. Others are answered 403.
func Guard(allow func(host string) bool, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if err := checkSource(r, allow); err != nil {
			refuse(w, http.StatusForbidden, nil, jsonrpc.CodeInvalidRequest, err.Error())
			return
		}
		next.ServeHTTP(w, r)
	})
}

// hostname is the host of an authority without port, brackets and final dot.
func hostname(authority string) string {
	host := authority
	if h, _, err := net.SplitHostPort(authority); err == nil {
		host = h
	}
	host = strings.TrimSuffix(strings.TrimPrefix(host, "["), "]")
	return strings.TrimSuffix(strings.ToLower(host), ".")
}

// RequireBearer lets only requests with the token through to next; others are
// answered 401. Use it where others on the host can reach the door.
func RequireBearer(token string, next http.Handler) http.Handler {
	want := sha256.Sum256([]byte(token))
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		scheme, got, _ := strings.Cut(r.Header.Get("Authorization"), " ")
		sum := sha256.Sum256([]byte(strings.TrimSpace(got)))
		if token == "" || !strings.EqualFold(scheme, "Bearer") || subtle.ConstantTimeCompare(sum[:], want[:]) != 1 {
			w.Header().Set("WWW-Authenticate", "Bearer")
			refuse(w, http.StatusUnauthorized, nil, jsonrpc.CodeInvalidRequest, "the bearer token of this server is required")
			return
		}
		r = r.Clone(r.Context())
		r.Header.Del("Authorization") // the token is ours, not the server's
		next.ServeHTTP(w, r)
	})
}

// refuse answers with an HTTP status and a JSON-RPC error.
func refuse(w http.ResponseWriter, status int, id []byte, code int, text string) {
	writeJSON(w, status, jsonrpc.NewError(id, code, text, nil))
}

func writeJSON(w http.ResponseWriter, status int, raw []byte) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store, no-transform")
	w.WriteHeader(status)
	_, _ = w.Write(raw) // a client that has gone needs no answer
}

// notAllowed is 405 with the header RFC 9110 section 15.5.6 demands.
func notAllowed(w http.ResponseWriter, allow, text string) {
	w.Header().Set("Allow", allow)
	refuse(w, http.StatusMethodNotAllowed, nil, jsonrpc.CodeInvalidRequest, text)
}
