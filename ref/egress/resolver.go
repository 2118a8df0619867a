package egress

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
)

// Resolver looks up the addresses of a host. [net.Resolver] is one; see
// [NewResolver] for what it should be kept from doing.
type Resolver interface {
	// LookupNetIP returns the addresses of host, an A-label name without
	// trailing dot, for network "ip". Errors should be of type *net.DNSError.
	LookupNetIP(ctx context.Context, network, host string) ([]netip.Addr, error)
}

// NewResolver asks the DNS server at addrPort, or the system's servers for "".
// /etc/hosts is read in both cases. Names are taken as absolute: a search
// domain would resolve another name than the one that was judged.
func NewResolver(addrPort string) (Resolver, error) {
	// The pure Go resolver never takes "127.1" or "0x7f000001" for an address,
	// as getaddrinfo does.
	r := &net.Resolver{PreferGo: true}
	if addrPort != "" {
		ap, err := netip.ParseAddrPort(addrPort)
		if err != nil || ap.Port() == 0 {
			return nil, fmt.Errorf("resolver %s is not an address and port: write it as 192.0.2.53:53", quote(addrPort))
		}
		r.Dial = func(ctx context.Context, network, _ string) (net.Conn, error) {
			var d net.Dialer
			return d.DialContext(ctx, network, ap.String())
		}
	}
	return absolute{r}, nil
}

type absolute struct{ *net.Resolver }

func (a absolute) LookupNetIP(ctx context.Context, network, host string) ([]netip.Addr, error) {
	return a.Resolver.LookupNetIP(ctx, network, host+".")
}

// lookup returns the addresses of a target in the order to try them.
func (p *Proxy) lookup(ctx context.Context, a Authority) ([]netip.Addr, error) {
	if a.Addr.IsValid() {
		return []netip.Addr{a.Addr}, nil
	}
	found, err := p.cfg.Resolver.LookupNetIP(ctx, "ip", a.Name)
	if err != nil {
		return nil, lookupError(ctx, a, err)
	}
	list := make([]netip.Addr, 0, len(found))
	seen := map[netip.Addr]bool{}
	for _, ip := range found {
		if ip = ip.Unmap(); ip.IsValid() && !seen[ip] && len(list) < maxAddresses {
			seen[ip] = true
			list = append(list, ip)
		}
	}
	if len(list) == 0 {
		return nil, &dialError{ReasonDNSError, a.Name + " has no address"}
	}
	return list, nil
}

// maxAddresses bounds what one answer can make us dial.
const maxAddresses = 16

func lookupError(ctx context.Context, a Authority, err error) *dialError {
	var dns *net.DNSError
	switch {
	case outOfDescriptors(err):
		return &dialError{ReasonDescriptors, "no descriptor was left for the lookup"}
	case errors.Is(ctx.Err(), context.Canceled):
		return &dialError{ReasonClientGone, "the client left during the lookup"}
	case ctx.Err() != nil, errors.As(err, &dns) && dns.IsTimeout:
		return &dialError{ReasonDNSTimeout, "the lookup of " + a.Name + " was not answered in time"}
	case errors.As(err, &dns) && dns.IsNotFound:
		return &dialError{ReasonDNSError, a.Name + " does not exist in DNS"}
	}
	return &dialError{ReasonDNSError, "the lookup of " + a.Name + " had an error: " + err.Error()}
}
