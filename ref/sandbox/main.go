package sandbox

import (
	"os"
	"strconv"

	"bridgecheck/ref/sandbox/internal/inside"
	"bridgecheck/ref/sandbox/internal/wire"
)

// Main takes over when this process was started as the init of a sandbox, and
// does not return then. Every program that launches calls it first thing in
// main (and every test binary in TestMain): the sandbox's init is the
// program's own binary, executed again under another name.
func Main() {
	if len(os.Args) > 1 && os.Args[0] == wire.Arg0Limits {
		inside.Limit(os.Args[1:])
	}
	if len(os.Args) != 2 || os.Args[0] != wire.Arg0 {
		return
	}
	fd, err := strconv.Atoi(os.Args[1])
	if err != nil {
		os.Exit(2)
	}
	inside.Run(uintptr(fd))
}
