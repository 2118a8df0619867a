// Package program is the double of the executable arapuca: it launches a command
// in the reference bridge's own sandbox, with a loopback relay and a CONNECT
// proxy of its own. It shares no code with arapuca, and says that it is a double
// wherever it tells its version.
//
//	arapuca run [flags] -- COMMAND…     as people call it
//	arapuca launch [flags] -- COMMAND…  as the doubles of the library do
//	arapuca -V
//
// Any executable can be it: whoever links this package and calls [Main] first is
// arapuca when its name is.
package program

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/LeGambiArt/go-arapuca/behaviour"

	"bridgecheck/ref/guardian"
	"bridgecheck/ref/sandbox"
)

// Version is told by -V.
const Version = "0.2.8-double"

// failure is the exit code of the program's own failures.
const failure = 125

// Main takes over when this process was started as arapuca, or by it, and does
// not return then. Call it first thing in main and in TestMain.
func Main() {
	sandbox.Main()
	guardian.Main()
	switch {
	case len(os.Args) > 2 && os.Args[1] == stepStrict: // in the sandbox, under whatever name
		os.Exit(fail(strict(os.Args[2:])))
	case filepath.Base(os.Args[0]) == "arapuca":
		os.Exit(run(os.Args[1:]))
	}
}

func run(args []string) int {
	if err := behaviour.Check(); err != nil {
		return fail(err)
	}
	verb := ""
	if len(args) > 0 {
		verb = args[0]
	}
	switch verb {
	case "-V", "--version":
		fmt.Fprintln(os.Stderr, "arapuca", Version)
		return 0
	case "run", "launch":
		o, err := parse(verb, args[1:])
		if err != nil {
			return fail(err)
		}
		if verb == "run" {
			return runCommand(o)
		}
		return launchCommand(o)
	case "linger":
		linger()
		return 0
	}
	fmt.Fprintln(os.Stderr, "usage: arapuca run [flags] -- command")
	return 1
}

func fail(err error) int {
	fmt.Fprintln(os.Stderr, "arapuca:", err)
	return failure
}
