// Command arapuca is the double of the executable of that name, for whoever looks
// one up: the double of the C library, and people.
package main

import (
	"fmt"
	"os"

	"bridgecheck/ref/arapuca/program"
)

func main() {
	program.Main()
	fmt.Fprintln(os.Stderr, "this is the double of arapuca, and works under that name alone")
	os.Exit(1)
}
