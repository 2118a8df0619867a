package oracles

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/elazarl/goproxy"
	"github.com/stripe/smokescreen/pkg/smokescreen"
	acl "github.com/stripe/smokescreen/pkg/smokescreen/acl/v1"
	"golang.org/x/net/idna"
)

// moduleVersion reads the version of a library from go.mod.
func moduleVersion(path string) func() (string, error) {
	return func() (string, error) {
		text, err := os.ReadFile("go.mod")
		if err != nil {
			return "", err
		}
		m := regexp.MustCompile(regexp.QuoteMeta(path) + ` (v\S+)`).FindSubmatch(text)
		if m == nil {
			return "", fmt.Errorf("go.mod does not name %s", path)
		}
		return string(m[1]), nil
	}
}

// startGoproxy puts the rules into the condition that goproxy's documentation
// uses for lists of hosts; it has no notion of ports or of addresses.
func startGoproxy(string) (string, error) {
	var hosts []string
	for _, h := range allowedHosts {
		switch suffix, glob := globSuffix(h); {
		case glob:
			h = `([^.:]+\.)+` + regexp.QuoteMeta(suffix)
		case strings.Contains(h, ":"):
			h = regexp.QuoteMeta("[" + h + "]")
		default:
			h = regexp.QuoteMeta(h)
		}
		hosts = append(hosts, h)
	}
	ports := strings.Trim(strings.ReplaceAll(fmt.Sprint(allowedPorts), " ", "|"), "[]")
	good, err := regexp.Compile(`(?i)^(` + strings.Join(hosts, "|") + `)(:(` + ports + `))?$`)
	if err != nil {
		return "", err
	}
	p := goproxy.NewProxyHttpServer()
	p.Logger = quiet{}
	bad := p.OnRequest(goproxy.Not(goproxy.ReqHostMatches(good)))
	bad.HandleConnect(goproxy.AlwaysReject)
	bad.DoFunc(func(r *http.Request, _ *goproxy.ProxyCtx) (*http.Request, *http.Response) {
		return r, goproxy.NewResponse(r, goproxy.ContentTypeText, http.StatusForbidden, "no")
	})
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	srv := &http.Server{Handler: p, ReadHeaderTimeout: headTimeout, MaxHeaderBytes: 4096}
	go srv.Serve(ln)
	return ln.Addr().String(), nil
}

type quiet struct{}

func (quiet) Printf(string, ...any) {}

// startSmokescreen has no notion of ports in its rules, and refuses to load them
// in upper case or with U-labels.
func startSmokescreen(dir string) (string, error) {
	path := filepath.Join(dir, "acl.yaml")
	text := "version: v1\nservices: []\ndefault:\n  project: lab\n  action: enforce\n  allowed_domains:\n"
	for _, h := range allowedHosts {
		ascii, err := idna.Punycode.ToASCII(strings.ToLower(h))
		if err != nil {
			return "", err
		}
		text += fmt.Sprintf("    - %q\n", ascii)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		return "", err
	}
	cfg := smokescreen.NewConfig()
	cfg.Log.SetOutput(io.Discard)
	rules, err := acl.New(cfg.Log, acl.NewYAMLLoader(path), nil)
	if err != nil {
		return "", err
	}
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	cfg.EgressACL, cfg.Listener = rules, ln
	cfg.Ip, cfg.Port = "127.0.0.1", uint16(ln.Addr().(*net.TCPAddr).Port)
	cfg.AllowMissingRole = true
	cfg.RoleFromRequest = func(*http.Request) (string, error) { return "lab", nil }
	cfg.ReadHeaderTimeout = headTimeout
	go smokescreen.StartWithConfig(cfg, nil)
	return ln.Addr().String(), nil
}
