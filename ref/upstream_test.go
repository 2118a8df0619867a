package ref

import (
	"context"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"testing"

	"bridgecheck/ref/config"
)

// names is a resolver that knows one name.
type names map[string][]netip.Addr

func (n names) LookupNetIP(_ context.Context, _, host string) ([]netip.Addr, error) {
	if found := n[host]; found != nil {
		return found, nil
	}
	return nil, &net.DNSError{Err: "no such host", Name: host, IsNotFound: true}
}

// A model is found by the resolver of the specification, at the first of its
// addresses that answers; its certificate is verified.
func TestUpstream(t *testing.T) {
	hello := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { _, _ = io.WriteString(w, "hello at "+r.Host) })
	plain, secure := httptest.NewServer(hello), httptest.NewTLSServer(hello)
	defer plain.Close()
	defer secure.Close()
	secure.Config.ErrorLog = slog.NewLogLogger(slog.DiscardHandler, slog.LevelInfo)
	port := func(s *httptest.Server) string {
		_, port, _ := net.SplitHostPort(s.Listener.Addr().String())
		return port
	}
	resolver := names{
		"model.test":   {netip.MustParseAddr("127.0.0.9"), netip.MustParseAddr("127.0.0.1")},
		"nowhere.test": {netip.MustParseAddr("127.0.0.9")},
	}
	t.Setenv("HTTP_PROXY", "http://192.0.2.1:1") // nobody's: the host's own settings are not the bridge's
	for url, want := range map[string]string{
		"http://model.test:" + port(plain):         "200 hello at model.test:" + port(plain),
		"http://127.0.0.1:" + port(plain):          "200 hello at 127.0.0.1:" + port(plain),
		"http://nowhere.test:" + port(plain):       "502 the bridge got no answer from nowhere.test:" + port(plain),
		"http://unknown.test:" + port(plain):       "502 the bridge got no answer from unknown.test:" + port(plain),
		"https://model.test:" + port(secure):       "502 the bridge got no answer from model.test:" + port(secure),
		"http://[::ffff:127.0.0.1]:" + port(plain): "200 hello at [::ffff:127.0.0.1]:" + port(plain),
	} {
		p := &phase{opt: Options{Log: slog.New(slog.DiscardHandler)}, spec: config.Spec{Timeouts: &config.Timeouts{ConnectMS: 5000}}}
		h, err := p.upstream("model", url, resolver, func(*http.Request) {})
		if err != nil {
			t.Fatal(err)
		}
		w := httptest.NewRecorder()
		h.ServeHTTP(w, httptest.NewRequest(http.MethodGet, "http://127.0.0.1:18080/", http.NoBody))
		if got := http.StatusText(w.Code); got == "" || strings.TrimSpace(w.Body.String()) != want[4:] || want[:3] != w.Result().Status[:3] {
			t.Errorf("%s: %s %s, want %s", url, w.Result().Status, w.Body, want)
		}
		if err := p.close(); err != nil {
			t.Error(err)
		}
	}
}
