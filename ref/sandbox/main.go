package sandbox

import (
	"os"
	"strconv"

	"golang.org/x/sys/unix"

	"bridgecheck/ref/sandbox/internal/inside"
	"bridgecheck/ref/sandbox/internal/wire"
)

// Main takes over when this process was started by this package (the init of a
// sandbox, the step before its agent, a trial of Probe), and does not return
// then. Every program that launches calls it first thing in main, and
// every test binary in TestMain: these are the program's own binary, executed
// again under another name.
func Main() {
	switch args := os.Args; {
	case len(args) == 2 && args[0] == wire.Arg0:
		fd, err := strconv.Atoi(args[1])
		if err != nil {
			os.Exit(2)
		}
		inside.Run(uintptr(fd))
	case len(args) > 1 && args[0] == wire.Arg0Step:
		inside.Step(args[1:])
	case len(args) == 1 && args[0] == wire.Arg0Nothing:
		unix.Exit(0)
	}
}
