package egress_test

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"net/url"

	"bridgecheck/ref/egress"
)

// A proxy that lets a client reach one host and one server of its own.
func Example() {
	rule, err := egress.ParseRule("api.example.test", 443, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	name, err := egress.ParseAuthority("jira.mcp.internal:80")
	if err != nil {
		fmt.Println(err)
		return
	}
	jira := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprintf(w, "hello from %s%s", r.Host, r.URL.Path)
	})
	proxy, err := egress.New(egress.Config{
		Policy:  egress.NewPolicy([]egress.Rule{rule}, nil),
		Virtual: map[egress.Authority]egress.VirtualServer{name: {Name: "jira", Handler: jira}},
		OnDecision: func(d egress.Decision) {
			fmt.Printf("decision: %v %s%s for %s\n", d.Verdict, d.Server, d.Reason, d.Target())
		},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		fmt.Println(err)
		return
	}
	served := make(chan error, 1)
	go func() { served <- proxy.Serve(listener) }()

	transport := &http.Transport{Proxy: http.ProxyURL(&url.URL{Scheme: "http", Host: listener.Addr().String()})}
	client := &http.Client{Transport: transport}
	for _, u := range []string{"http://jira.mcp.internal/mcp", "http://other.example.test/"} {
		res, err := client.Get(u)
		if err != nil {
			fmt.Println(err)
			continue
		}
		body, _ := io.ReadAll(res.Body)
		res.Body.Close()
		if res.StatusCode == http.StatusOK {
			fmt.Println(string(body))
		} else {
			fmt.Println(res.Status)
		}
	}
	transport.CloseIdleConnections()
	proxy.Shutdown(context.Background())
	<-served

	// Output:
	// decision: allow jira for jira.mcp.internal:80
	// hello from jira.mcp.internal/mcp
	// decision: deny refused for other.example.test:80
	// 502 other.example.test:80 is not on the allow list
}

// Errors of rules say what to write instead.
func ExampleParseRule() {
	for _, host := range []string{"https://api.example.test", ".example.test", "10.0.0.5"} {
		if _, err := egress.ParseRule(host, 443, nil); err != nil {
			fmt.Println(err)
		}
	}
	// Output:
	// rule "https://api.example.test" port 443: a rule has no scheme: write "api.example.test"
	// rule ".example.test" port 443: a leading dot matches nothing: write "*.example.test"
	// rule 10.0.0.5:443: 10.0.0.5 is a private address (RFC 1918): if that is meant, add addresses: [10.0.0.5/32]
}

func ExampleClassify() {
	for _, s := range []string{"93.184.216.34", "100.64.0.1", "64:ff9b::169.254.169.254"} {
		c := egress.Classify(netip.MustParseAddr(s))
		fmt.Printf("%s: %s\n", s, c.Name)
	}
	// Output:
	// 93.184.216.34: public
	// 100.64.0.1: shared
	// 64:ff9b::169.254.169.254: nat64 metadata
}
