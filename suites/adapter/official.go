package adapter

import (
	"context"
	"fmt"

	"bridgecheck/suites/catalog"
	"bridgecheck/suites/kit"
	"bridgecheck/suites/subject"
)

var _ = kit.Check(catalog.Case{
	ID:     "MCP-015",
	Title:  "passes the scenarios of the official conformance suite, as they pass without it",
	Must:   "Each scenario of the official MCP conformance suite, of a server and of a client, MUST end through the bridge as it ends without it, but for differences that are listed with their reason.",
	Level:  catalog.House,
	Clause: "8.15",
	Needs:  []subject.Capability{subject.HostServers, subject.RelayPorts, subject.VirtualNames, subject.PathRoutes},
	Host:   []catalog.HostFact{catalog.HostUserNS, catalog.HostTools},
	Why:    "The suite was written by others and asks what nobody here has thought of. It comes from npm, so that it is run on request.",
}, func(ctx context.Context, t *kit.T) {
	var runs []struct {
		Side, Suite, Chain, Door string
		Passed, Ran              int
		Unexplained              []string
	}
	t.Released(ctx, []string{"conformance"}, "conformance.json", &runs)
	for _, r := range runs {
		name := fmt.Sprintf("%s, %s: scenarios of %d that pass", r.Side, r.Suite, r.Ran)
		if r.Chain == "direct" {
			t.Control(name+" direct", r.Passed, kit.Differ(0))
		}
	}
	for _, r := range runs {
		if r.Chain == "direct" {
			continue
		}
		where := fmt.Sprintf("%s, %s, %s by %s: ", r.Side, r.Suite, r.Chain, r.Door)
		t.Attempt(where+fmt.Sprintf("scenarios of %d that pass", r.Ran), r.Passed, kit.Differ(0))
		t.Attempt(where+"what differs and is not explained", r.Unexplained, kit.BeNone())
	}
})
