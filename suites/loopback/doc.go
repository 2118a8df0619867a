// Package loopback checks that the sandbox has a loopback interface, up and
// addressed, and nothing else (area LPB).
//
// Every check of what is there has a control in a bare namespace, in which
// nothing was set up: an instrument that reports the same of both proves
// nothing.
package loopback
