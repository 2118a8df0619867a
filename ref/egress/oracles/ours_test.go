package oracles

import (
	"net"
	"net/http"
	"strings"
	"time"

	"bridgecheck/ref/egress"
)

// The rules of the lab. Each proxy gets them in its own language.
var (
	allowedHosts = []string{"*.test", "exact.example", "*.wild.example", "Ruled.Example.", "bücher.example", "192.0.2.1", "2001:db8::1"}
	allowedPorts = []int{portOne, portHTTP, portTLS, portFirst, portAfterEnd, portEndsSoon, portResets}
)

// headTimeout is the shortest that all of them can be given.
const headTimeout = time.Second

func ourVersion() (string, error) { return "", nil }

func startOurs(string) (string, error) {
	var rules []egress.Rule
	for _, host := range allowedHosts {
		for _, port := range allowedPorts {
			r, err := egress.ParseRule(host, port, nil)
			if err != nil {
				return "", err
			}
			rules = append(rules, r)
		}
	}
	resolver, err := egress.NewResolver("127.0.0.1:53")
	if err != nil {
		return "", err
	}
	p, err := egress.New(egress.Config{
		Policy:       egress.NewPolicy(rules, nil),
		Resolver:     resolver,
		RefuseStatus: http.StatusForbidden,
		Routes:       []egress.Route{{Prefix: "/mcp/a", Handler: http.NotFoundHandler()}},
		Limits:       egress.Limits{HeadBytes: 4096, HeadFields: 16, HeadTimeout: headTimeout},
	})
	if err != nil {
		return "", err
	}
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	go p.Serve(ln)
	return ln.Addr().String(), nil
}

// globSuffix is the name below which a rule with a wildcard allows all.
func globSuffix(host string) (string, bool) { return strings.CutPrefix(host, "*.") }
