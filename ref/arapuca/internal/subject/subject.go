// Package subject is what the subjects over go-arapuca have in common.
package subject

import (
	"bridgecheck/ref/arapuca/launcher"
	"bridgecheck/ref/cli"
	"bridgecheck/ref/sandbox/external"
)

// Main is the reference bridge with go-arapuca as its launcher, in a helper that
// is this same program.
func Main(name string, mode launcher.Mode) {
	external.Main(func([]string) external.Backend { return launcher.Backend{Mode: mode} })
	cli.Main("", &external.Launcher{Command: external.Self(), Hosts: mode == launcher.Hosts, Name: name})
}
