package allowlist

import (
	"context"
	"strings"

	"bridgecheck/fakes/attempt"
	"bridgecheck/fakes/dns"
	"bridgecheck/fakes/upstream"
	"bridgecheck/suites/catalog"
	"bridgecheck/suites/kit"
	"bridgecheck/suites/subject"
)

// failure is one way in which a request ends before it reaches its host.
type failure struct {
	// host makes the host and port to ask for.
	host      func(t *kit.T) subject.Rule
	undeclare bool
	statuses  []int
	errorType string // RFC 9209 section 2.3
}

var _ = kit.Table(catalog.Case{
	ID:     "ALW-022",
	Title:  "tells failures apart",
	Must:   "Failures MUST be told apart by the error type of Proxy-Status (RFC 9209) and by the reason of the decision event; none MUST be silent and none a reset.",
	Level:  catalog.Interoperability,
	Clause: "5.22",
	Needs:  []subject.Capability{subject.Connect},
	Faults: []string{"silent-close", "one-error-type"},
	Why:    "Who gets a closed connection cannot tell a rule that is missing from a host that is down.",
}, []kit.Row[failure]{
	{Name: "malformed", Value: failure{unnamed, false, []int{400}, "http_request_error"}},
	{Name: "refused", Value: failure{live, true, []int{403}, "http_request_denied"}},
	{Name: "dns-error", Value: failure{unknown, false, []int{502}, "dns_error"}},
	{Name: "destination-ip-prohibited", Value: failure{insider, false, []int{403, 502}, "destination_ip_prohibited"}},
	{Name: "connection-refused", Value: failure{closed, false, []int{502}, "connection_refused"}},
	{Name: "connection-timeout", Value: failure{blackHole, false, []int{504}, "connection_timeout"}},
}, func(ctx context.Context, t *kit.T, f failure) {
	declared, target := t.HTTP().Rule(), f.host(t)
	spec := subject.Spec{Allow: []subject.Rule{declared}}
	if f.errorType == "connection_timeout" {
		spec.Timeouts = &subject.Timeouts{ConnectMS: 500}
	}
	if !f.undeclare && f.errorType != "http_request_error" {
		spec.Allow = append(spec.Allow, target)
	}
	phase := t.Start(ctx, spec)
	t.Control("CONNECT that meets no failure", ask(ctx, connect, phase.Agent, declared), kit.BeStatus(200))

	answer := ask(ctx, connect, phase.Agent, target)
	t.Attempt("CONNECT that fails", answer, kit.BeStatus(f.statuses...))
	t.Attempt("error type in Proxy-Status", proxyError(answer), kit.Be(f.errorType))
	if t.Subject().Claims(subject.Events) {
		event := phase.AwaitEvent(ctx, subject.EventDecision, func(e subject.Event) bool { return e.Verdict != "allow" })
		t.Attempt("reason of the decision event", event.Reason, kit.Differ(""))
	}
})

func unnamed(t *kit.T) subject.Rule { return subject.Rule{Host: "..", Port: 443} }
func live(t *kit.T) subject.Rule    { return t.HTTP().Rule() }
func insider(t *kit.T) subject.Rule { return t.UpstreamAt(upstream.HTTP, private).Rule() }

func blackHole(t *kit.T) subject.Rule { return t.Upstream(upstream.BlackHole).Rule() }

func unknown(t *kit.T) subject.Rule {
	r := subject.Rule{Host: t.Unique() + ".test", Port: 443}
	t.Name(r.Host, dns.NXDomain())
	return r
}

func closed(t *kit.T) subject.Rule {
	u := t.HTTP()
	u.Close()
	return u.Rule()
}

// proxyError is the error type of the Proxy-Status field (RFC 9209 section
// 2.1.1), empty without one.
func proxyError(answer attempt.Observation) string {
	for parameter := range strings.SplitSeq(answer.Headers["Proxy-Status"], ";") {
		if name, found := strings.CutPrefix(strings.TrimSpace(parameter), "error="); found {
			return name
		}
	}
	return ""
}
