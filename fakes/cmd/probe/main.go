// Command probe is run inside a sandbox in the place of an agent; see package
// bridgecheck/fakes/probe.
package main

import (
	"os"

	"bridgecheck/fakes/probe"
	"bridgecheck/fakes/process"
)

func main() {
	if process.Helper(os.Args) {
		return
	}
	os.Exit(probe.Run(os.Stdin, os.Stdout, os.Stderr))
}
