package plan

import (
	"fmt"
	"slices"
	"strings"

	"bridgecheck/ref/config"
)

// wish is a reason to share the host's network; refused when no policy allows it.
type wish struct {
	Refusal
	refused bool
}

// sharing returns the first reason to share the network, or nil. What the
// specification asks for comes before what it needs, and that before what the
// host lacks. Only a server without declared hosts shares without a policy:
// that is the documented meaning of such a server, unless isolation was asked
// for by name.
func sharing(spec config.Spec, host Host) *wish {
	network, policy := spec.Isolation()
	switch {
	case network == "shared":
		return &wish{Refusal: Refusal{Reason: "the specification asks for the host's network"}}
	case policy == "off":
		return &wish{Refusal: Refusal{Reason: "the policy is off: the network is never isolated"}}
	}
	required := policy == "require"
	if open := undeclared(spec); len(open) > 0 {
		return &wish{
			refused: required && network == "isolated",
			Refusal: Refusal{
				Servers: open, Reason: plural(open, "runs", "run") + " in the sandbox without allowed_hosts",
				Fix: "declare them, write placement: host, or leave network: isolated out",
			},
		}
	}
	if stuck := doorless(spec, host.Launcher == nil); len(stuck) > 0 {
		return &wish{refused: required, Refusal: Refusal{
			Servers: stuck, Reason: noDoor(spec, stuck), Fix: "offer a transport that it speaks, or write policy: prefer",
		}}
	}
	if !spec.ProxyOn() && needsProxy(spec) {
		return &wish{refused: required, Refusal: Refusal{
			Reason: "hosts are allowed, and the proxy that would lead to them is off", Fix: "write proxy.mode: on, or remove the hosts",
		}}
	}
	if share := sharedBy(host.Launcher, spec, required); share != nil {
		return share
	}
	for _, missing := range []*Missing{host.UserNS, host.NetNS} {
		if missing != nil {
			return &wish{refused: required, Refusal: Refusal{Reason: "this host cannot isolate the network", Missing: *missing}}
		}
	}
	return nil
}

// sharedBy is what a launcher leaves no choice in, nil for this program itself.
func sharedBy(l *Launcher, spec config.Spec, required bool) *wish {
	bridged := len(hosted(spec)) > 0
	switch {
	case l == nil:
		return nil
	case !l.Proxy && (bridged || needsProxy(spec)):
		return l.without("leads no port of a sandbox to a proxy", required)
	case !l.OwnNetwork:
		return l.without("makes no network of the sandbox's own", required)
	case bridged && !spec.ProxyOn():
		return &wish{refused: required, Refusal: Refusal{
			Reason: "with " + l.Name + " the proxy is the only door to servers on the host, and it is off", Fix: "write proxy.mode: on",
		}}
	}
	return nil
}

// share turns the plan into one of the host's network.
func (p *Plan) share(spec config.Spec, host Host, why Refusal) error {
	if len(spec.Relays) > 0 {
		why.Reason += "; then a relay would open its socket to everybody on this host"
		why.Fix = "remove the relays, or what shares the network"
		return &why
	}
	if len(spec.Routes) > 0 {
		why.Reason += "; then there is no proxy port for the routes"
		why.Fix = "remove the routes, or what shares the network"
		return &why
	}
	p.Mode, p.Level, p.Servers, p.Proxy = Shared, SharedUserNS, why.Servers, false
	p.Reason = why.summary()
	if len(why.Causes) > 0 {
		p.Reason += ", perhaps since " + why.Causes[0]
	}
	if host.UserNS != nil {
		if _, policy := spec.Isolation(); policy == "require" {
			return &Refusal{Reason: "this host cannot make the namespaces of the sandbox", Servers: why.Servers, Missing: *host.UserNS}
		}
		// Without a file tree of its own the agent has no Unix sockets at all.
		p.Level, p.Unix = SharedNone, false
		p.Reason += "; lost with the user namespace: own processes, own file tree, empty capability set"
	} else if l := host.Launcher; l != nil && !l.OwnPIDs {
		p.Level = SharedNone
		p.Reason += "; lost with the user namespace, which " + l.Name + " makes for the network alone: own processes, empty capability set"
	}
	p.leave(spec)
	return nil
}

// leave gives up the servers that no door of the agent leads to: they are its own
// children then, which is what the shared network is for.
func (p *Plan) leave(spec config.Spec) {
	stuck := doorless(spec, p.Unix)
	if len(stuck) == 0 {
		return
	}
	p.Bridged = slices.DeleteFunc(p.Bridged, func(name string) bool { return slices.Contains(stuck, name) })
	if text := noDoor(spec, stuck); !strings.Contains(p.Reason, text) {
		p.Reason += "; " + text
	}
}

// layers fills in what will be on. A layer that was asked for and is missing
// stops the start, unless the policy only prefers it.
func (p *Plan) layers(spec config.Spec, host Host) error {
	p.Layers = map[string]string{"netns": "off"}
	state := func(name string, missing *Missing) error {
		p.Layers[name] = "on"
		if missing == nil {
			return nil
		}
		p.Layers[name] = "missing"
		if _, policy := spec.Isolation(); policy == "require" {
			return &Refusal{Reason: name + " is missing on this host", Missing: *missing}
		}
		p.Reason += "; missing on this host: " + name
		return nil
	}
	if p.Level == Isolated {
		p.Layers["netns"] = "on"
	} else if host.NetNS != nil || host.UserNS != nil || host.Launcher != nil && !host.Launcher.OwnNetwork {
		p.Layers["netns"] = "missing"
	}
	for _, name := range []string{"userns", "pidns", "mountns"} {
		p.Layers[name] = "on"
		if host.UserNS != nil || !p.makes(host.Launcher, name) {
			p.Layers[name] = "missing"
		}
	}
	if spec.Seccomp == "off" {
		p.Layers["seccomp"] = "off"
	} else if err := state("seccomp", host.Seccomp); err != nil {
		return err
	}
	return state("landlock", host.Landlock)
}

// makes tells whether the sandbox will have the layer, as far as its launcher goes.
func (p *Plan) makes(l *Launcher, layer string) bool {
	switch {
	case l == nil:
		return true
	case layer == "pidns":
		return l.OwnPIDs
	case layer == "userns":
		return l.OwnPIDs || p.Level == Isolated
	}
	return false
}

// undeclared are the sandboxed servers that may need any host.
func undeclared(spec config.Spec) (names []string) {
	for _, s := range spec.Servers {
		if !s.OnHost() && len(s.AllowedHosts) == 0 {
			names = append(names, s.Name)
		}
	}
	slices.Sort(names)
	return names
}

// doorless are the bridged servers that offer no transport the agent speaks.
func doorless(spec config.Spec, unix bool) (names []string) {
	if spec.Agent == nil {
		return nil
	}
	for _, s := range spec.Servers {
		if s.OnHost() && !fits(s, spec.Agent, unix) {
			names = append(names, s.Name)
		}
	}
	slices.Sort(names)
	return names
}

// fits tells whether a door of the server speaks what the agent speaks. Stdio is
// carried by a program that goes to the Unix socket.
func fits(s config.Server, a *config.Agent, unix bool) bool {
	if unix && a.Speaks(config.Unix) {
		return true
	}
	return slices.ContainsFunc(s.Offered(), func(t string) bool { return a.Speaks(t) && (unix || t != config.Stdio) })
}

// noDoor names the agent, its transports and the servers they do not lead to.
func noDoor(spec config.Spec, stuck []string) string {
	return fmt.Sprintf("agent %s speaks only %s, which is no door to %s",
		spec.Agent.Path, strings.Join(spec.Agent.Transports, ", "), plural(stuck, "", ""))
}

func needsProxy(spec config.Spec) bool {
	return len(spec.Allow) > 0 || len(spec.Routes) > 0 || spec.Model != nil ||
		slices.ContainsFunc(spec.Servers, func(s config.Server) bool { return len(s.AllowedHosts) > 0 })
}

// plural is "server a runs", "servers a, b run".
func plural(names []string, one, many string) string {
	if len(names) == 1 {
		return strings.TrimSpace("server " + names[0] + " " + one)
	}
	return strings.TrimSpace("servers " + strings.Join(names, ", ") + " " + many)
}
