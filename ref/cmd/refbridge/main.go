// Command refbridge is the reference bridge on the command line.
package main

import "bridgecheck/ref/cli"

// version is set by the linker; empty means what the toolchain recorded.
var version string

func main() { cli.Main(version, nil) }
