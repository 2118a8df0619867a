package external

import (
	"os"
	"os/exec"
	"slices"
)

// Role is the name under which a program is started as its own helper.
const Role = "bridge-launcher"

// Main is a helper, and does not return, when the program was started by the
// command of [Self]; backend gets what was given there. Call it first thing in
// main, before [bridgecheck/ref.Main] and the command line.
func Main(backend func(args []string) Backend) {
	if len(os.Args) > 0 && os.Args[0] == Role {
		os.Exit(Serve(backend(os.Args[1:])))
	}
}

// Self gives the command of a helper that is this same program.
func Self(args ...string) func() *exec.Cmd {
	return func() *exec.Cmd {
		cmd := exec.Command("/proc/self/exe")
		cmd.Args = append([]string{Role}, slices.Clone(args)...)
		return cmd
	}
}
