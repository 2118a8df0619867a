package ref

import (
	"runtime"
	"runtime/debug"
	"slices"
)

// Description is what `describe` prints, protocol 1 of the contract.
type Description struct {
	Protocol     int               `json:"protocol"`
	Name         string            `json:"name"`
	Versions     map[string]string `json:"versions"`
	Capabilities []string          `json:"capabilities"`
	Limits       DeclaredLimits    `json:"limits"`
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

// Describe says what this build does. version is the build's own, empty for
// what the Go toolchain recorded.
func Describe(version string) Description {
	d := Description{
		Protocol: 1, Name: "ref-native",
		Versions: map[string]string{"refbridge": buildVersion(version), "go": runtime.Version()},
		Limits:   DeclaredLimits{Connections: defaultConnections, IdleSeconds: int(defaultIdle.Seconds()), HeadBytes: defaultHeadBytes},
	}
	for _, w := range words {
		if !slices.ContainsFunc(lacks, func(l lack) bool { return l.capability == w }) {
			d.Capabilities = append(d.Capabilities, w)
		}
	}
	return d
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
