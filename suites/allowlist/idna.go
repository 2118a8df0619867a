package allowlist

import (
	"context"
	"fmt"
	"strings"

	"bridgecheck/fakes/dns"
	"bridgecheck/suites/catalog"
	"bridgecheck/suites/kit"
	"bridgecheck/suites/subject"
)

// The first label in both forms, RFC 5891 section 5.
const (
	uLabel = "bücher"
	aLabel = "xn--bcher-kva"
)

var _ = kit.Table(catalog.Case{
	ID:     "ALW-009",
	Title:  "matches a rule in U-labels with the A-label on the wire",
	Must:   "A rule given as U-label MUST be converted when it is loaded and match the A-label on the wire; a request with octets outside ASCII MUST be answered 400.",
	Level:  catalog.Interoperability,
	Clause: "5.9",
	Needs:  []subject.Capability{subject.Connect},
	Faults: []string{"u-label-unconverted"},
}, []kit.Row[func(context.Context, *kit.T)]{
	{Name: "rule", Value: international(uLabel)},
	{Name: "rule-upper", Value: international(strings.ToUpper(uLabel))},
	{Name: "request-utf-8", Value: outsideASCII(uLabel)},
	{Name: "request-latin-1", Value: outsideASCII("b\xfccher")},
}, func(ctx context.Context, t *kit.T, run func(context.Context, *kit.T)) { run(ctx, t) })

// international declares the name by the label and asks by its A-label.
func international(label string) func(context.Context, *kit.T) {
	return func(ctx context.Context, t *kit.T) {
		u, rest := t.HTTP(), "."+t.Unique()+".test"
		t.Name(aLabel+rest, dns.Addresses(u.Addr().Addr().String()))
		wire := subject.Rule{Host: aLabel + rest, Port: u.Port()}
		plain := t.Start(ctx, subject.Spec{Allow: []subject.Rule{wire}}).Agent
		agent := t.Start(ctx, subject.Spec{Allow: []subject.Rule{{Host: label + rest, Port: u.Port()}}}).Agent
		for _, f := range forms(t) {
			t.Control(f.name+" with the rule as A-label", ask(ctx, f, plain, wire), kit.BeStatus(200))
			t.Attempt(f.name+" with the rule as "+label, ask(ctx, f, agent, wire), kit.BeStatus(200))
		}
	}
}

// outsideASCII asks with the label as it is.
func outsideASCII(label string) func(context.Context, *kit.T) {
	return func(ctx context.Context, t *kit.T) {
		u, rest := t.HTTP(), "."+t.Unique()+".test"
		t.Name(aLabel+rest, dns.Addresses(u.Addr().Addr().String()))
		wire := subject.Rule{Host: aLabel + rest, Port: u.Port()}
		agent := t.Start(ctx, subject.Spec{Allow: []subject.Rule{wire}}).Agent
		t.Control("CONNECT to the A-label", ask(ctx, connect, agent, wire), kit.BeStatus(200))
		heard := u.Heard()
		t.Attempt("CONNECT to other octets", agent.Connect(ctx, fmt.Sprintf("%s%s:%d", label, rest, u.Port())), kit.BeStatus(400))
		if t.Subject().Claims(subject.AbsoluteForm) {
			request := fmt.Sprintf("GET http://%s%s:%d/ HTTP/1.1\r\nHost: a.test\r\n\r\n", label, rest, u.Port())
			t.Attempt("GET with other octets", agent.Raw(ctx, "get", []byte(request)), kit.BeStatus(400))
		}
		t.FarSide("connections for the attempts", u.Heard()-heard, kit.BeNone())
	}
}
