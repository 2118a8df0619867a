// Command arapuca-cli is the reference bridge with `arapuca run` as its launcher:
// arapuca's own proxy has the allowlist, and MCP servers are the agent's children.
// The executable is the variable ARAPUCA, or the first arapuca in PATH.
package main

import (
	"fmt"
	"os"

	"bridgecheck/ref/cli"
	"bridgecheck/ref/sandbox/arapucacli"
	"bridgecheck/ref/sandbox/external"
)

// version is set by the linker; empty means what the toolchain recorded.
var version string

func main() {
	external.Main(func([]string) external.Backend {
		b := arapucacli.Backend{Path: os.Getenv("ARAPUCA")}
		if err := b.Check(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return b
	})
	cli.Main(version, &external.Launcher{Command: external.Self(), Hosts: true, Name: "arapuca-cli"})
}
