// Command knob runs a command in a denied or limited environment; see package
// bridgecheck/fakes/knob.
//
//	knob NAME -- COMMAND [ARGS…]
//
// The exit code is the command's, 128 and the number of the signal that ended
// it, or 96 when the environment could not be made.
package main

import (
	"fmt"
	"os"

	"bridgecheck/fakes/knob"
)

// exitNoKnob is no code of the commands that knob is made for.
const exitNoKnob = 96

func main() {
	code, err := knob.Run(os.Args[1:])
	if err != nil {
		fmt.Fprintln(os.Stderr, "knob:", err)
		code = exitNoKnob
	}
	os.Exit(code)
}
