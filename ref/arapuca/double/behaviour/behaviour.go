// Package behaviour says how the doubles of arapuca behave: well, unless the
// variable ARAPUCA_DOUBLE names something that was read in the sources of a
// release, or that a release must not do. Words are joined by commas; some carry
// a value after an equals sign.
package behaviour

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"time"
)

// Variable is the one that chooses.
const Variable = "ARAPUCA_DOUBLE"

// planted is what a double does without the variable. The planted faults of the
// suites change this line, since nothing of the caller's environment reaches a
// subject there.
const planted = ""

// The words.
const (
	// Of the library.
	ExitOfHost   = "exit125-of-host" // a proxy that cannot be set up ends the calling process
	SignalLost   = "signal-lost"     // Wait gives 0 and no error for a death by signal
	CancelNoop   = "cancel-noop"     // cancelling the context does nothing
	NewKills     = "new-kills"       // New ends every sandbox that runs
	BothIgnored  = "both-ignored"    // AllowedHosts silently beats NetworkProxySocket
	RulesRaw     = "rules-raw"       // rules are compared as they were written
	NetNSWrong   = "netns-wrong"     // NetNSAvailable says the opposite
	ProxyLeft    = "proxy-left"      // the proxy and its directory outlive the sandbox
	CutArguments = "cut-argv"        // what is longer than 4096 bytes is cut
	Skew         = "skew"            // the library has another version than the program

	// Of the program: its proxy, its relay, its sandbox.
	LoopbackRefused = "loopback-refused" // an address of this host is refused although it is declared
	SilentClose     = "silent-close"     // a malformed request gets no answer
	LimitSilent     = "limit-silent"     // one connection too many is closed without an answer
	IPv4Only        = "ipv4-only"        // nothing holds the relay's port on ::1
	OneWayIdle      = "idle-one-way"     // =2s: a silent direction ends, whatever the other does
	StrictDefault   = "strict-default"   // the strict filter, which refuses INET sockets, whatever was asked
	LoopbackDown    = "lo-down"          // lo stays down without a proxy
	EnvDropped      = "env-dropped"      // proxy variables and others of the caller are dropped silently
)

var words = []string{
	ExitOfHost, SignalLost, CancelNoop, NewKills, BothIgnored, RulesRaw, NetNSWrong, ProxyLeft, CutArguments, Skew,
	LoopbackRefused, SilentClose, LimitSilent, IPv4Only, OneWayIdle, StrictDefault, LoopbackDown, EnvDropped,
}

// All are the words there are.
func All() []string { return slices.Clone(words) }

// Chosen is the whole choice, as the variable holds it. What is planted stays in
// this package.
//
//go:noinline
func Chosen() string {
	if chosen, ok := os.LookupEnv(Variable); ok {
		return chosen
	}
	return planted
}

// Has tells whether a word was chosen.
func Has(word string) bool {
	_, ok := lookup(word)
	return ok
}

// Duration is the value of a word, 0 where it was not chosen.
func Duration(word string) time.Duration {
	value, _ := lookup(word)
	d, _ := time.ParseDuration(value) // Check has told of a bad one
	return d
}

// Check refuses words that mean nothing.
func Check() error {
	for word := range strings.SplitSeq(Chosen(), ",") {
		name, value, valued := strings.Cut(word, "=")
		switch {
		case word == "":
		case !slices.Contains(words, name):
			return fmt.Errorf("%s: %q means nothing; use %s", Variable, name, strings.Join(words, ", "))
		case name != OneWayIdle:
			if valued {
				return fmt.Errorf("%s: %s takes no value", Variable, name)
			}
		default:
			if d, err := time.ParseDuration(value); err != nil || d <= 0 {
				return fmt.Errorf("%s: %s=%q is no time; write %s=2s", Variable, name, value, name)
			}
		}
	}
	return nil
}

func lookup(word string) (value string, ok bool) {
	for chosen := range strings.SplitSeq(Chosen(), ",") {
		if name, value, _ := strings.Cut(chosen, "="); name == word {
			return value, true
		}
	}
	return "", false
}
