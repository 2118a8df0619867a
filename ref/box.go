package ref

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"strconv"
	"syscall"

	"bridgecheck/ref/config"
	"bridgecheck/ref/guardian"
	"bridgecheck/ref/plan"
	"bridgecheck/ref/sandbox"
	"bridgecheck/ref/sandbox/external"
)

// box is the agent's sandbox, whoever makes it; its methods are those of the
// native one.
type box interface {
	Layers() map[string]string
	LandlockABI() int
	Listeners() []sandbox.Listener
	Terminal() *os.File
	Resize(rows, columns uint16) error
	Start() error
	Signal(sig syscall.Signal) error
	Kill() error
	Wait() (sandbox.Exit, error)
}

// meet asks the launcher what it is, where there is one.
func (p *phase) meet(ctx context.Context) error {
	if p.opt.Launcher == nil {
		return nil
	}
	about, err := p.opt.Launcher.About(ctx)
	if err != nil {
		return err
	}
	p.about = about
	return nil
}

// host is what is known of this host before anything was tried.
func (p *phase) host() plan.Host {
	l := p.opt.Launcher
	if l == nil {
		return plan.Host{}
	}
	return plan.Host{Launcher: &plan.Launcher{
		Name: p.about.String(), OwnNetwork: p.about.Has(external.FieldOwnNetwork),
		OwnPIDs: p.about.Has(external.FieldOwnPIDs), Proxy: p.about.Has(l.Proxy()),
	}}
}

// foreignProxy tells whether the proxy is the launcher's own.
func (p *phase) foreignProxy() bool {
	return p.opt.Launcher != nil && p.opt.Launcher.Hosts && p.plan.Proxy
}

// probe finds out what the host can do; a launcher by rehearsing.
func (p *phase) probe(ctx context.Context, host plan.Host) (plan.Host, error) {
	l := p.opt.Launcher
	if l == nil {
		return Probe(ctx)
	}
	base := ""
	if paths := p.spec.Paths; paths != nil {
		base = paths.Runtime
	}
	dir, err := guardian.Open(base)
	if err != nil {
		return host, err
	}
	host, err = probe(host, func(s sandbox.Spec) (box, error) {
		if p.spec.Seccomp != "" || !p.about.Has(external.FieldSeccomp) {
			s.Seccomp = sandbox.Profile(p.spec.Seccomp)
		}
		if s.Level == sandbox.Isolated && host.Launcher.Proxy && p.spec.ProxyOn() {
			s.Ports = []uint16{config.ProxyPort}
		}
		return l.Launch(ctx, external.Spec{Spec: s, Dir: dir.Path})
	})
	return host, errors.Join(inSpec(err), dir.Close())
}

// open has the sandbox made, by this program or by the launcher.
func (p *phase) open(ctx context.Context, s sandbox.Spec) (box, error) {
	if p.opt.Launcher == nil {
		return sandbox.Launch(ctx, s)
	}
	if p.spec.Seccomp == "" && !p.about.Has(external.FieldSeccomp) {
		s.Seccomp = "" // the one that it has
	}
	outer := external.Spec{Spec: s, Dir: p.dir}
	if p.opt.Launcher.Hosts {
		var err error
		if outer.AllowedHosts, err = allowedHosts(p.plan.Allow); err != nil {
			return nil, err
		}
	}
	return p.opt.Launcher.Launch(ctx, outer)
}

// allowedHosts are canonical rules, as a launcher takes them.
func allowedHosts(rules []string) (hosts []external.AllowedHost, err error) {
	for _, rule := range rules {
		host, port, err := net.SplitHostPort(rule)
		if err != nil {
			return nil, fmt.Errorf("rule %s: %w", rule, err)
		}
		n, err := strconv.ParseUint(port, 10, 16)
		if err != nil {
			return nil, fmt.Errorf("rule %s: %w", rule, err)
		}
		hosts = append(hosts, external.AllowedHost{Host: host, Port: uint16(n)})
	}
	return hosts, nil
}
