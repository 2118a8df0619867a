package loopback

import (
	"context"
	"fmt"
	"net/netip"

	"bridgecheck/fakes/attempt"
	"bridgecheck/suites/catalog"
	"bridgecheck/suites/kit"
	"bridgecheck/suites/subject"
)

var _ = kit.Check(catalog.Case{
	ID:     "LPB-004",
	Title:  "has no route but loopback's own",
	Must:   "There MUST NOT be a route, IPv4 or IPv6, except loopback's own.",
	Level:  catalog.Security,
	Clause: "3.4",
	Needs:  []subject.Capability{subject.NetNS},
	Host:   []catalog.HostFact{catalog.HostUserNS},
	Faults: []string{"default-route"},
}, func(ctx context.Context, t *kit.T) {
	t.Control("routes of the lab outside that lead elsewhere", elsewhere(t.Outside(ctx).Facts(ctx)), kit.Contain("inet 203.0.113.0/24 local"))

	inside := t.Start(ctx, subject.Spec{}).Agent.Facts(ctx)
	t.Attempt("routes in the sandbox that lead elsewhere", elsewhere(inside), kit.BeNone())
})

// elsewhere lists the routes that do not stay on loopback. A route that only
// refuses (unreachable, blackhole, prohibit) leads nowhere.
func elsewhere(f attempt.Facts) []string {
	list := []string{}
	for _, r := range f.Routes {
		switch r.Type {
		case "unreachable", "blackhole", "prohibit", "throw":
			continue
		}
		dst, err := netip.ParsePrefix(r.Destination)
		if err == nil && (dst.Addr().IsLoopback() || linkLocalOnLo(r, dst)) {
			continue
		}
		list = append(list, fmt.Sprintf("%s %s %s", r.Family, r.Destination, r.Type))
	}
	return list
}

// linkLocalOnLo is what the kernel itself adds to a loopback interface:
// multicast and link-local routes that no other interface can carry.
func linkLocalOnLo(r attempt.Route, dst netip.Prefix) bool {
	a := dst.Addr()
	return r.Interface == "lo" && r.Gateway == "" && (a.IsMulticast() || a.IsLinkLocalUnicast())
}
