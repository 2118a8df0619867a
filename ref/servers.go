package ref

import (
	"context"
	"slices"
	"sync"

	"bridgecheck/ref/adapter"
	"bridgecheck/ref/config"
	"bridgecheck/ref/egress"
	"bridgecheck/ref/guardian"
	"bridgecheck/ref/mcpserver"
)

// startServers starts the bridged servers side by side, each in its own time,
// and returns when all are healthy. The first that fails ends the others.
func (p *phase) startServers(ctx context.Context) error {
	p.manager = mcpserver.New(mcpserver.Options{Dir: p.dir, Events: p.opt.Events, Log: p.opt.Log})
	p.later(p.manager.StopAll)
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var wg sync.WaitGroup
	for _, d := range p.doors {
		wg.Go(func() {
			if _, err := p.manager.Start(ctx, d.server.Name, p.serverConfig(d)); err != nil {
				cancel(err) // the first one is kept
			}
		})
	}
	wg.Wait()
	return context.Cause(ctx)
}

// runtimeDir makes the directory of the sockets, where there will be any.
func (p *phase) runtimeDir() error {
	base := ""
	if paths := p.spec.Paths; paths != nil {
		base = paths.Runtime
	}
	if base == "" && len(p.plan.Bridged) == 0 && p.opt.Launcher == nil {
		return nil
	}
	dir, err := guardian.Open(base)
	if err != nil {
		return err
	}
	p.later(dir.Close)
	p.dir = dir.Path
	return nil
}

func (p *phase) serverConfig(d *door) mcpserver.Config {
	s := d.server
	c := mcpserver.Config{
		Command: s.Command, Args: s.Args, Env: s.Env, URL: s.URL, Hosts: hosts(s), Containment: s.Containment,
		StartTimeout: milliseconds(s.StartTimeoutMS), StopGrace: milliseconds(s.StopGraceMS),
	}
	if l := p.spec.Limits; l != nil {
		c.MessageBytes, c.GarbageLines = l.MessageBytes, l.GarbageLines
	}
	if t := p.spec.Timeouts; t != nil { // a client that has dropped its stream is idle too
		c.Detached = min(milliseconds(t.IdleMS), adapter.DefaultDetached)
	}
	return c
}

// hosts are the server's names without their ports.
func hosts(s config.Server) (names []string) {
	for _, name := range s.Authorities() {
		if a, err := egress.ParseAuthority(name); err == nil && !slices.Contains(names, a.Host()) {
			names = append(names, a.Host())
		}
	}
	return names
}
