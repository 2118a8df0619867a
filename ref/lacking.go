package ref

import (
	"os"
	"slices"
	"strings"

	"bridgecheck/ref/config"
	"bridgecheck/ref/egress"
	"bridgecheck/ref/sandbox/external"
)

// never is asked of what no field asks for.
func never(config.Spec) bool { return false }

// lacking is all that this bridge lacks, with the launcher that it has.
func lacking(l *external.Launcher, about external.About) []lack {
	if l == nil {
		return lacks
	}
	all := slices.Concat(lacks, ofLaunchers, ofFields(about))
	switch {
	case !about.Has(l.Proxy()):
		all = append(all, ofOwnProxy...)
		all = append(all, lack{"connect", "", never, ""}, lack{"host-servers", "", never, ""}, lack{"rule-addresses", "allow.addresses", hasRanges, "leave them out"})
	case l.Hosts:
		all = slices.Concat(all, ofOwnProxy, ofForeignProxy)
	default:
		all = append(all, ofRelay(about)...)
	}
	return all
}

// ofLaunchers is what no launcher but the native one does.
var ofLaunchers = []lack{
	{"ipv6", "", never, ""},
	{"unix-door", "", never, ""}, // an agent that speaks nothing else is the plan's matter
	{"relay", "servers.port", anyServer(func(s config.Server) bool { return s.OnHost() && s.Port != 0 }), "the server is reached on the proxy port"},
	{"foreign-relay", "relays", func(s config.Spec) bool { return len(s.Relays) > 0 }, "leave them out"},
	{"tty", "agent.tty", func(s config.Spec) bool { return s.Agent != nil && s.Agent.TTY }, "leave it out"},
	{"fd-clean", "descriptors", func(s config.Spec) bool { return len(s.Descriptors) > 0 }, "leave them out"},
	{"", "seccomp", func(s config.Spec) bool { return s.Seccomp == "off" }, "the launcher's filter cannot be left out"},
}

// ofFields is what a backend lacks.
func ofFields(about external.About) (all []lack) {
	has := func(fields ...external.Field) bool {
		return !slices.ContainsFunc(fields, func(f external.Field) bool { return !about.Has(f) })
	}
	if !has(external.FieldOwnNetwork) {
		all = append(all, lack{"netns", "", never, ""})
	}
	if !has(external.FieldOwnPIDs) {
		all = append(all, lack{"pidns", "", never, ""})
	}
	if !has(external.FieldSeccomp) {
		all = append(all, lack{"seccomp", "seccomp", func(s config.Spec) bool { return s.Seccomp != "" }, "leave it out: the filter cannot be chosen"})
	}
	if !has(external.FieldMemory, external.FieldPIDs, external.FieldFiles) {
		limit := func(get func(config.Limits) bool) func(config.Spec) bool {
			return func(s config.Spec) bool { return s.Limits != nil && get(*s.Limits) }
		}
		const instead = "leave it out: not all limits can be had"
		all = append(all,
			lack{"limits", "limits.memory", limit(func(l config.Limits) bool { return l.Memory > 0 }), instead},
			lack{"limits", "limits.pids", limit(func(l config.Limits) bool { return l.PIDs > 0 }), instead},
			lack{"limits", "limits.files", limit(func(l config.Limits) bool { return l.Files > 0 }), instead})
	}
	return all
}

// ofOwnProxy is what only the bridge's own proxy does.
var ofOwnProxy = []lack{
	{"absolute-form", "", never, ""},
	{"virtual-names", "", never, ""},
	{"sse", "", never, ""},
	{"path-routes", "routes", func(s config.Spec) bool { return len(s.Routes) > 0 }, "leave them out"},
	{"model-route", "model", func(s config.Spec) bool { return s.Model != nil }, "allow the model's host"},
	{"sni", "proxy.sni_check", func(s config.Spec) bool { return s.Proxy != nil && s.Proxy.SNICheck }, "leave it out"},
	{"", "proxy.refuse_status", func(s config.Spec) bool { return s.Proxy != nil && s.Proxy.RefuseStatus != 0 }, "leave it out"},
	{"idle-config", "timeouts.idle_ms", func(s config.Spec) bool { return s.Timeouts != nil && s.Timeouts.IdleMS > 0 }, "leave it out"},
}

// ofForeignProxy is what a proxy of the launcher's is not told.
var ofForeignProxy = []lack{
	{"host-servers", "servers.placement", anyServer(config.Server.OnHost), "write placement: sandbox, and the server's allowed_hosts"},
	{"control", "", never, ""}, // there is no server that could be controlled
	{"rule-addresses", "allow.addresses", hasRanges, "leave them out"},
	{"", "deny", func(s config.Spec) bool { return len(s.Deny) > 0 }, "allow only what is meant"},
	{"", "timeouts.connect_ms", func(s config.Spec) bool { return s.Timeouts != nil && s.Timeouts.ConnectMS > 0 }, "leave it out"},
	{"", "limits.connections", func(s config.Spec) bool { return s.Limits != nil && s.Limits.Connections > 0 }, "leave it out"},
	{"", "limits.head_bytes", func(s config.Spec) bool { return s.Limits != nil && (s.Limits.HeadBytes > 0 || s.Limits.HeadMS > 0) }, "leave it out"},
	{"", "resolver", func(s config.Spec) bool { return s.Resolver != "" && !systemResolver(s.Resolver) }, "the launcher asks the servers of /etc/resolv.conf: leave it out, or make it the only one there"},
}

// ofRelay is what a relay before the bridge's proxy ends earlier.
func ofRelay(about external.About) (all []lack) {
	if idle := about.IdleSeconds * 1000; idle > 0 {
		all = append(all, lack{"", "timeouts.idle_ms", func(s config.Spec) bool { return s.Timeouts != nil && s.Timeouts.IdleMS > idle }, "the launcher's relay ends an idle connection earlier"})
	}
	if most := behindRelay(about); most > 0 {
		all = append(all, lack{"", "limits.connections", func(s config.Spec) bool { return s.Limits != nil && s.Limits.Connections > most }, "the launcher's relay takes fewer"})
	}
	return all
}

// behindRelay is how many connections the bridge's proxy takes behind a launcher's
// relay: one less, so that it is the proxy which answers the first that is too
// many. 0 is unknown.
func behindRelay(about external.About) int { return max(0, about.Connections-1) }

func hasRanges(s config.Spec) bool {
	ranges := func(r config.Rule) bool { return len(r.Addresses) > 0 }
	return slices.ContainsFunc(s.Allow, ranges) ||
		slices.ContainsFunc(s.Servers, func(s config.Server) bool { return slices.ContainsFunc(s.AllowedHosts, ranges) })
}

// systemResolver tells whether an address and port are what programs ask that
// read resolv.conf(5): its only server, on port 53.
func systemResolver(address string) bool {
	text, err := os.ReadFile("/etc/resolv.conf")
	if err != nil && !os.IsNotExist(err) {
		return false
	}
	return onlyServer(string(text), address)
}

func onlyServer(resolvConf, address string) bool {
	asked, err := egress.ParseAuthority(address)
	if err != nil || asked.Port != 53 {
		return false
	}
	var servers []string
	for line := range strings.Lines(resolvConf) {
		if f := strings.Fields(line); len(f) > 1 && f[0] == "nameserver" {
			servers = append(servers, f[1])
		}
	}
	if servers == nil {
		servers = []string{"127.0.0.1"}
	}
	return len(servers) == 1 && servers[0] == asked.Host()
}
