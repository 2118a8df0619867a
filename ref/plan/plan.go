// Package plan decides how a phase runs, before anything starts: a pure
// function from the specification and what the host can do to a mode, a level,
// the reason for both, and the allowlist. It never weakens what was asked for
// without a policy that says so; then the reason tells it.
package plan

import (
	"fmt"
	"slices"
	"strings"

	"bridgecheck/ref/config"
	"bridgecheck/ref/egress"
)

// Modes.
const (
	Connect = "connect"        // own network namespace; the proxy is the only way out
	Shared  = "shared-network" // the host's network
)

// Levels.
const (
	Isolated     = "isolated"
	SharedUserNS = "shared/userns" // every layer but the network namespace
	SharedNone   = "shared/none"   // no namespace at all
)

// Host is what this host can do; a nil entry means that it can.
type Host struct {
	UserNS   *Missing `json:"userns"` // user, PID and mount namespace
	NetNS    *Missing `json:"netns"`  // network namespace with its loopback up
	Landlock *Missing `json:"landlock"`
	Seccomp  *Missing `json:"seccomp"`
	// Launcher is what makes the sandbox instead of this program; nil is none.
	Launcher *Launcher `json:"launcher,omitempty"`
}

// Launcher is what another launcher makes. A layer that it does not make is
// missing, and was not asked for. It has neither a file tree nor Unix sockets of
// the sandbox's own.
type Launcher struct {
	Name       string // with its version
	OwnNetwork bool
	OwnPIDs    bool
	Proxy      bool // the sandbox's proxy port leads to a proxy
}

// StageLauncher is that of a launcher which does not do what is needed.
const StageLauncher = "launcher"

// without is a wish to share the network, which a launcher leaves no choice in.
func (l *Launcher) without(what string, required bool) *wish {
	return &wish{refused: required, Refusal: Refusal{
		Reason: l.Name + " " + what, Fix: "use a version of it that does, or write policy: prefer", Missing: Missing{Stage: StageLauncher},
	}}
}

// Missing is what stands in the way of a layer, found by doing.
type Missing struct {
	Stage  string   `json:"stage"`
	Errno  string   `json:"errno"`            // ENOSPC, EPERM, …
	Causes []string `json:"causes,omitempty"` // candidates that fit, each with its fix
}

// leadsOut tells whether the sandbox's proxy port leads to a proxy.
func (h Host) leadsOut() bool { return h.Launcher == nil || h.Launcher.Proxy }

// Plan is the decision.
type Plan struct {
	Mode, Level, Reason string
	Servers             []string          // those that caused a shared network
	Allow               []string          // canonical host:port, sorted, no duplicates
	Layers              map[string]string // on, off, missing
	Bridged             []string          // servers that the bridge starts on the host
	Policy              *egress.Policy    // Allow and the specification's Deny
	Proxy               bool              // the egress proxy runs
	Unix                bool              // a Unix socket is a door to each bridged server
}

// Refusal is the decision that the phase must not run.
type Refusal struct {
	Reason  string
	Fix     string // what to write instead, where the specification is the cause
	Servers []string
	Missing // of the host; the zero value when the specification is the cause
}

// Error is the reason and the fix, and a line for each candidate of a cause.
func (r *Refusal) Error() string {
	text := r.summary()
	if r.Fix != "" {
		text += "; " + r.Fix
	}
	return strings.Join(append([]string{text}, r.Causes...), "\n  perhaps: ")
}

// summary is one line: the reason, and the host's own if it has one.
func (r *Refusal) summary() string {
	if r.Stage == "" {
		return r.Reason
	}
	if r.Errno == "" {
		return fmt.Sprintf("%s (%s)", r.Reason, r.Stage)
	}
	return fmt.Sprintf("%s (%s: %s)", r.Reason, r.Stage, r.Errno)
}

// Decide makes the plan of a valid specification. The error is a [*Refusal],
// or names a rule that cannot be read.
func Decide(spec config.Spec, host Host) (Plan, error) {
	policy, err := policyOf(spec)
	if err != nil {
		return Plan{}, err
	}
	p := Plan{Mode: Connect, Level: Isolated, Policy: policy, Allow: policy.Allowed(), Bridged: hosted(spec)}
	p.Reason = connectReason(spec, host)
	p.Proxy, p.Unix = spec.ProxyOn() && host.leadsOut(), host.Launcher == nil
	if share := sharing(spec, host); share != nil {
		if share.refused {
			return Plan{}, &share.Refusal
		}
		if err := p.share(spec, host, share.Refusal); err != nil {
			return Plan{}, err
		}
	}
	return p, p.layers(spec, host)
}

// policyOf joins the rules of the specification and of the sandboxed servers.
func policyOf(spec config.Spec) (*egress.Policy, error) {
	rules := slices.Clone(spec.Allow)
	for _, s := range spec.Servers {
		if !s.OnHost() {
			rules = append(rules, s.AllowedHosts...)
		}
	}
	var allow, deny []egress.Rule
	for _, r := range rules {
		rule, err := egress.ParseRule(r.Host, r.Port, r.Addresses)
		if err != nil {
			return nil, err
		}
		allow = append(allow, rule)
	}
	for _, r := range spec.Deny {
		rule, err := egress.ParseDenyRule(r.Host, r.Port)
		if err != nil {
			return nil, err
		}
		deny = append(deny, rule)
	}
	return egress.NewPolicy(allow, deny), nil
}

func hosted(spec config.Spec) (names []string) {
	for _, s := range spec.Servers {
		if s.OnHost() {
			names = append(names, s.Name)
		}
	}
	return names
}

func connectReason(spec config.Spec, host Host) string {
	switch bridged := len(hosted(spec)); {
	case !spec.ProxyOn():
		return "isolated without a proxy, as asked"
	case !host.leadsOut():
		return "isolated without a proxy, which " + host.Launcher.Name + " has not: nothing needs it"
	case len(spec.Servers) == 0:
		return "no MCP servers: nothing needs the host's network"
	case bridged == len(spec.Servers):
		return "all MCP servers are bridged from the host"
	case bridged == 0:
		return "all MCP servers declare their allowed hosts"
	}
	return "all MCP servers declare their allowed hosts or are bridged from the host"
}
