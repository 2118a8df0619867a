package ref

import (
	"fmt"
	"strings"

	"bridgecheck/ref/config"
	"bridgecheck/ref/egress"
	"bridgecheck/ref/event"
	"bridgecheck/ref/plan"
)

// ready tells that the agent is about to start, and its doors.
func (p *phase) ready() {
	r := event.Ready{Doors: p.list(), V4: p.plan.Mode == plan.Shared && len(p.doors) > 0 || p.foreignProxy()}
	if p.box != nil {
		for _, l := range p.box.Listeners() {
			r.V6 = r.V6 || l.V6
			r.V4 = r.V4 || !l.V6
		}
	}
	p.opt.Events.Emit(r)
}

// list tells the doors as events do: never their tokens.
func (p *phase) list() []event.Door {
	doors := []event.Door{}
	if p.spec.Agent == nil {
		return doors
	}
	for _, d := range p.doors {
		for _, t := range d.http() {
			doors = append(doors, p.listOf(d, t)...)
		}
	}
	return doors
}

// listOf are the doors of a server for one transport.
func (p *phase) listOf(d *door, transport string) (doors []event.Door) {
	add := func(kind, url string) {
		doors = append(doors, event.Door{Server: d.server.Name, Kind: kind, Transport: transport, URL: url})
	}
	path := paths[transport][0]
	if d.prefix == "" {
		add("loopback", d.at(path))
	}
	if d.unix != nil {
		add("unix", "unix:"+d.unix.path)
	}
	if !p.plan.Proxy {
		return doors
	}
	for _, name := range d.server.Authorities() {
		if a, err := egress.ParseAuthority(name); err == nil {
			add("proxy", "http://"+strings.TrimSuffix(a.String(), ":80")+path)
		}
	}
	add("path", fmt.Sprintf("http://127.0.0.1:%d%s%s", config.ProxyPort, routeTo(d.server.Name), strings.TrimPrefix(path, "/mcp")))
	return doors
}
