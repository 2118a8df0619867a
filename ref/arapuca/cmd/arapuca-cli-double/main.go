// Command arapuca-cli-double is command arapuca-cli on the double of the program
// arapuca, which this program is as well.
package main

import (
	"bridgecheck/ref/arapuca/program"
	"bridgecheck/ref/cli"
	"bridgecheck/ref/sandbox/arapucacli"
	"bridgecheck/ref/sandbox/external"
)

func main() {
	program.Main()
	external.Main(func([]string) external.Backend { return arapucacli.Backend{Path: "/proc/self/exe"} })
	cli.Main("", &external.Launcher{Command: external.Self(), Hosts: true, Name: "arapuca-cli-double"})
}
