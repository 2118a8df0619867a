// Command ref-arapuca-double is command ref-arapuca on the double of go-arapuca. This program is
// the double of the program arapuca as well.
package main

import (
	arapuca "github.com/LeGambiArt/go-arapuca"

	"bridgecheck/ref/arapuca/internal/subject"
	"bridgecheck/ref/arapuca/launcher"
	"bridgecheck/ref/arapuca/program"
)

func main() {
	program.Main()
	arapuca.SetProgram("/proc/self/exe")
	launcher.LibraryVersion = arapuca.LibraryVersion()
	subject.Main("ref-arapuca-double", launcher.Proxy)
}
