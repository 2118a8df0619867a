// Package claims checks that a subject says the truth about itself (area CAP):
// what it claims is in the words of the contract, and what it does not claim it
// refuses when a spec asks for it.
package claims
