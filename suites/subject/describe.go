package subject

import (
	"fmt"
	"slices"
)

// Description is what `SUBJECT describe` prints.
type Description struct {
	Protocol int    `json:"protocol"`
	Name     string `json:"name"`
	// Versions are the versions of what is linked or executed, by name.
	Versions     map[string]string `json:"versions"`
	Capabilities []Capability      `json:"capabilities"`
	Limits       DeclaredLimits    `json:"limits"`
	// Double says that something stands in for a part that the name speaks of: a
	// verdict on the subject is none on that.
	Double bool `json:"double,omitempty"`
}

// DeclaredLimits are the limits a subject promises.
type DeclaredLimits struct {
	Connections int `json:"connections"`
	IdleSeconds int `json:"idle_seconds"`
	HeadBytes   int `json:"head_bytes"`
}

// Capability is one word of the closed list of claims.
type Capability string

// The closed list of capabilities; CONTRACT.md section 2 says what each claims.
const (
	NetNS          Capability = "netns"
	IPv6           Capability = "ipv6"
	PIDNS          Capability = "pidns"
	RelayPorts     Capability = "relay"
	ForeignRelay   Capability = "foreign-relay"
	Connect        Capability = "connect"
	AbsoluteForm   Capability = "absolute-form"
	VirtualNames   Capability = "virtual-names"
	PathRoutes     Capability = "path-routes"
	UnixDoor       Capability = "unix-door"
	SSE            Capability = "sse"
	RuleAddresses  Capability = "rule-addresses"
	SNI            Capability = "sni"
	HostServers    Capability = "host-servers"
	SandboxServers Capability = "sandbox-servers"
	Fallback       Capability = "fallback"
	Landlock       Capability = "landlock"
	Seccomp        Capability = "seccomp"
	FDClean        Capability = "fd-clean"
	EnvClean       Capability = "env-clean"
	LimitsCap      Capability = "limits"
	TTY            Capability = "tty"
	Events         Capability = "events"
	ModelRoute     Capability = "model-route"
	IdleConfig     Capability = "idle-config"
	Control        Capability = "control"
)

// All returns the closed list, in the order of the contract.
func All() []Capability {
	return []Capability{
		NetNS, IPv6, PIDNS, RelayPorts, ForeignRelay, Connect, AbsoluteForm,
		VirtualNames, PathRoutes, UnixDoor, SSE, RuleAddresses, SNI, HostServers,
		SandboxServers, Fallback, Landlock, Seccomp, FDClean, EnvClean, LimitsCap,
		TTY, Events, ModelRoute, IdleConfig, Control,
	}
}

// Claims tells whether the subject claims c.
func (d Description) Claims(c Capability) bool { return slices.Contains(d.Capabilities, c) }

// Validate checks what JSON decoding cannot: the protocol, the name and that
// every capability is one of [All] and stands once.
func (d Description) Validate() error {
	if d.Protocol != Protocol {
		return fmt.Errorf("describe: protocol is %d; this harness speaks %d", d.Protocol, Protocol)
	}
	if d.Name == "" {
		return fmt.Errorf("describe: name is empty; give the subject a name")
	}
	seen := map[Capability]bool{}
	for _, c := range d.Capabilities {
		if !slices.Contains(All(), c) {
			return fmt.Errorf("describe: capability %q is unknown; CONTRACT.md section 2 has the list", c)
		}
		if seen[c] {
			return fmt.Errorf("describe: capability %q stands twice", c)
		}
		seen[c] = true
	}
	return nil
}
