// Command ara-double is command ara on the double of go-arapuca: this program is
// the double of the program arapuca as well.
package main

import (
	arapuca "github.com/LeGambiArt/go-arapuca"

	"bridgecheck/ref/arapuca/ara"
	"bridgecheck/ref/arapuca/launcher"
	"bridgecheck/ref/arapuca/program"
)

func main() {
	program.Main()
	arapuca.SetProgram("/proc/self/exe")
	launcher.LibraryVersion = arapuca.LibraryVersion()
	ara.Main()
}
