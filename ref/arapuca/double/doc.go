// Package arapuca is a DOUBLE of go-arapuca, in Go alone: it has the API of
// version 0.2.5 (with the build tag go_arapuca_020, that of 0.2.0) and none of
// its code. What it launches runs in the reference bridge's own sandbox. It says
// that it is one: a verdict on it says nothing about arapuca.
//
// The library is a thin caller: the work is done by the double of the program
// arapuca, which [SetProgram] names. Package behaviour says what can be imitated.
package arapuca

import "github.com/LeGambiArt/go-arapuca/behaviour"

// LibraryVersion is what libarapuca would be; the real library cannot be asked.
func LibraryVersion() string {
	if behaviour.Has(behaviour.Skew) {
		return "0.2.7-double"
	}
	return "0.2.8-double"
}

// program is the executable that is called arapuca.
var program string

// SetProgram names the executable that does the work when it is called arapuca.
// Only the double has it.
func SetProgram(path string) { program = path }

// IsDouble tells a double from go-arapuca, which has no such method.
func (s *Sandbox) IsDouble() bool { return true }
