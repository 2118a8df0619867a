package kit

import (
	"fmt"
	"net/netip"
	"strings"

	"github.com/onsi/ginkgo/v2"

	"bridgecheck/fakes/dns"
	"bridgecheck/fakes/upstream"
	"bridgecheck/suites/subject"
)

// publicAddress is where upstreams listen unless a check says otherwise: a
// documentation address (RFC 5737), which stands for a public one.
const publicAddress = "203.0.113.10"

// Upstream is a counting server of the lab with a name of its own.
type Upstream struct {
	*upstream.Server
	// Name resolves to the server's address in the lab's DNS.
	Name string
}

// Upstream starts a server of a kind on a public address of the lab, under a
// name that only this check uses.
func (t *T) Upstream(kind upstream.Kind) *Upstream {
	ginkgo.GinkgoHelper()
	return t.UpstreamAt(kind, publicAddress)
}

// UpstreamAt starts one on an address of the lab.
func (t *T) UpstreamAt(kind upstream.Kind, address string) *Upstream {
	ginkgo.GinkgoHelper()
	return t.UpstreamOn(kind, address, 0)
}

// UpstreamOn starts one on an address and a port of the lab; 0 is any free port.
func (t *T) UpstreamOn(kind upstream.Kind, address string, port int) *Upstream {
	ginkgo.GinkgoHelper()
	where := netip.AddrPortFrom(netip.MustParseAddr(address), uint16(port))
	server, err := upstream.Start(where.String(), kind)
	if err != nil {
		t.Fatal("start upstream at %s: %v", where, err)
	}
	ginkgo.DeferCleanup(server.Close)
	t.serial++
	u := &Upstream{Server: server, Name: fmt.Sprintf("u%d.%s.test", t.serial, t.label())}
	t.Name(u.Name, dns.Addresses(address))
	return u
}

// HTTP starts a counting HTTP server.
func (t *T) HTTP() *Upstream { ginkgo.GinkgoHelper(); return t.Upstream(upstream.HTTP) }

// Echo starts a counting server that sends back what it gets.
func (t *T) Echo() *Upstream { ginkgo.GinkgoHelper(); return t.Upstream(upstream.RawEcho) }

// Name makes a name resolve, in the order of the answers.
func (t *T) Name(name string, answers ...dns.Answer) {
	t.run.dns.Set(name, answers...)
	ginkgo.DeferCleanup(func() { t.run.dns.Set(name) })
}

// Queries is how often the lab's DNS server was asked for the name.
func (t *T) Queries(name string) int { return t.run.dns.Queries(name) }

// Probe is the executable of the probe, for a spec that is written by hand.
func (t *T) Probe() string { return t.run.cfg.Probe }

// Executable is the subject's own file, to be read.
func (t *T) Executable() string { return t.run.cfg.Subject }

// label is the check's id as part of a host name.
func (t *T) label() string {
	return strings.ReplaceAll(strings.ToLower(t.check.id()), ".", "-")
}

// Port is the port the server listens on.
func (u *Upstream) Port() int { return int(u.Addr().Port()) }

// Authority is the server's name and port.
func (u *Upstream) Authority() string { return fmt.Sprintf("%s:%d", u.Name, u.Port()) }

// URL is the server's root, by name.
func (u *Upstream) URL() string { return "http://" + u.Authority() + "/" }

// Rule allows the server's name and port.
func (u *Upstream) Rule() subject.Rule { return subject.Rule{Host: u.Name, Port: u.Port()} }

// Unique is a word that no other check uses.
func (t *T) Unique() string { t.serial++; return fmt.Sprintf("%s-%d", t.label(), t.serial) }

// Heard is how many connections, or datagrams, have reached the server, those
// still in its queue too.
func (u *Upstream) Heard() int { return u.Fence() }
