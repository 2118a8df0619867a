// Command probe is run inside a sandbox in the place of an agent; see package
// bridgecheck/fakes/probe. With --watch PID it stays outside and watches another
// probe; see package bridgecheck/fakes/trace.
package main

import (
	"fmt"
	"os"
	"strconv"

	"bridgecheck/fakes/probe"
	"bridgecheck/fakes/process"
	"bridgecheck/fakes/trace"
)

func main() {
	switch {
	case process.Helper(os.Args):
	case len(os.Args) == 3 && os.Args[1] == trace.Flag:
		pid, err := strconv.Atoi(os.Args[2])
		if err != nil {
			fmt.Fprintln(os.Stderr, "probe:", err)
			os.Exit(2)
		}
		os.Exit(trace.Main(pid, os.Stdin, os.Stdout, os.Stderr))
	default:
		os.Exit(probe.Run(os.Stdin, os.Stdout, os.Stderr))
	}
}
