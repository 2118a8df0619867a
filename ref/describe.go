package ref

import (
	"cmp"
	"context"
	"maps"
	"runtime"
	"runtime/debug"
	"slices"

	"bridgecheck/ref/sandbox/external"
)

// Description is what `describe` prints, protocol 1 of the contract.
type Description struct {
	Protocol     int               `json:"protocol"`
	Name         string            `json:"name"`
	Versions     map[string]string `json:"versions"`
	Capabilities []string          `json:"capabilities"`
	Limits       DeclaredLimits    `json:"limits"`
	// Double says that something stands in for what the launcher is named after.
	Double bool `json:"double,omitempty"`
}

// DeclaredLimits are what a phase promises when its specification sets none.
type DeclaredLimits struct {
	Connections int `json:"connections"`
	IdleSeconds int `json:"idle_seconds"`
	HeadBytes   int `json:"head_bytes"`
}

// words is the contract's closed list. What stands in lacks is not claimed.
var words = []string{
	"netns", "ipv6", "pidns", "relay", "foreign-relay", "connect", "absolute-form", "virtual-names",
	"path-routes", "unix-door", "sse", "rule-addresses", "sni", "host-servers", "sandbox-servers",
	"fallback", "landlock", "seccomp", "fd-clean", "env-clean", "limits", "tty", "events",
	"model-route", "idle-config", "control",
}

// Describe says what this build does, with a launcher if it has one. version is
// the build's own, empty for what the Go toolchain recorded. The error is that of
// a launcher which cannot be asked.
func Describe(ctx context.Context, version string, l *external.Launcher) (Description, error) {
	d := Description{
		Protocol: 1, Name: "ref-native",
		Versions: map[string]string{"refbridge": buildVersion(version), "go": runtime.Version()},
		Limits:   DeclaredLimits{Connections: defaultConnections, IdleSeconds: int(defaultIdle.Seconds()), HeadBytes: defaultHeadBytes},
	}
	var about external.About
	if l != nil {
		var err error
		if about, err = l.About(ctx); err != nil {
			return Description{}, err
		}
		d.launchedBy(l, about)
	}
	lacks := lacking(l, about)
	for _, w := range words {
		if !slices.ContainsFunc(lacks, func(l lack) bool { return l.capability == w }) {
			d.Capabilities = append(d.Capabilities, w)
		}
	}
	return d, nil
}

// launchedBy adds what the launcher says of itself. Where its proxy is the one
// that the agent has, its limits are those; its relay only lowers them.
func (d *Description) launchedBy(l *external.Launcher, about external.About) {
	d.Name, d.Double = "ref-"+about.Name, about.Double
	if l.Hosts {
		d.Name += "-hosts"
	}
	d.Name = cmp.Or(l.Name, d.Name)
	maps.Copy(d.Versions, about.Versions)
	if l.Hosts {
		d.Limits = DeclaredLimits{Connections: about.Connections, IdleSeconds: about.IdleSeconds, HeadBytes: about.HeadBytes}
		return
	}
	if n := behindRelay(about); n > 0 {
		d.Limits.Connections = min(d.Limits.Connections, n)
	}
	if n := about.IdleSeconds; n > 0 {
		d.Limits.IdleSeconds = min(d.Limits.IdleSeconds, n)
	}
}

func buildVersion(version string) string {
	if version != "" {
		return version
	}
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" {
		return info.Main.Version
	}
	return "devel"
}
