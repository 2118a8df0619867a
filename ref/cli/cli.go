// Package cli is the command line of the reference bridge:
//
//	refbridge run -c soda.yaml -- COMMAND…      for people
//	refbridge run --spec FILE [--events FILE] [--control FD] [--dry-run]
//	refbridge stdio [--socket PATH] NAME         for agents that speak only stdio
//	refbridge describe | validate -c FILE | schema | doctor
//
// The exit code of run is the agent's; 128+N when signal N ended it, 124 when
// the phase ran out of time, 125 for a failure of the bridge's own.
package cli

import (
	"errors"
	"fmt"
	"os"

	"github.com/spf13/cobra"
	"golang.org/x/sys/unix"

	"bridgecheck/ref"
	"bridgecheck/ref/sandbox/external"
)

// version is the build's own; empty means what the toolchain recorded.
var version string

// launcher makes the sandboxes; nil is this program itself.
var launcher *external.Launcher

// Main is the whole program. The version is empty for what the toolchain
// recorded; the launcher is nil where this program makes the sandbox itself. One
// whose helper is this program too calls [external.Main] before.
func Main(build string, l *external.Launcher) {
	version, launcher = build, l
	ref.Main() // first: the helper processes are this program too, and pay for nothing below
	noteInherited()
	// What a caller forgot to close must reach neither servers nor agent.
	if err := unix.CloseRange(3, ^uint(0), unix.CLOSE_RANGE_CLOEXEC); err != nil {
		fmt.Fprintln(os.Stderr, "refbridge: close_range:", err, "(Linux 5.11 or newer is needed)")
		os.Exit(ref.CodeFailure)
	}
	os.Exit(execute())
}

// exitCode ends the program with a code; whatever there is to say has been said.
type exitCode int

func (c exitCode) Error() string { return fmt.Sprintf("exit %d", int(c)) }

func execute() int {
	root := &cobra.Command{
		Use:           "refbridge",
		Short:         "Let a sandboxed agent reach its MCP servers and nothing else",
		SilenceUsage:  true,
		SilenceErrors: true,
	}
	root.CompletionOptions.HiddenDefaultCmd = true
	root.AddCommand(runCommand(), describeCommand(), validateCommand(), schemaCommand(), stdioCommand())
	if launcher == nil {
		root.AddCommand(doctorCommand()) // it tries this program's own sandbox
	}
	var code exitCode
	switch err := root.Execute(); {
	case err == nil:
		return 0
	case errors.As(err, &code):
		return int(code)
	default:
		fmt.Fprintln(errOut, "refbridge:", err)
		return ref.CodeFailure
	}
}
