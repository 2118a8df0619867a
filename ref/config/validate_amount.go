package config

import (
	"fmt"
	"math"
	"slices"
	"time"
)

// The most that can be counted with: a time past it would not fit into a
// time.Duration and become a short or a negative one, and a limit past it is none.
const (
	maxMS    = math.MaxInt64 / int64(time.Millisecond)
	maxCount = math.MaxInt32
)

// amounts: nothing that is counted may be negative, or so large that it would be
// taken for something else. 0 is the default.
func (v *validator) amounts() {
	within := func(field string, n, most int64) {
		switch {
		case n < 0:
			v.at(field, fmt.Sprintf("%d is negative", n), "give a positive number, or leave it out for the default")
		case n > most:
			v.at(field, fmt.Sprintf("%d is too large", n), fmt.Sprintf("give at most %d", most))
		}
	}
	ms := func(field string, n int) { within(field, int64(n), maxMS) }
	count := func(field string, n int) { within(field, int64(n), maxCount) }
	for i, s := range v.spec.Servers {
		ms(v.servers[i]+".start_timeout_ms", s.StartTimeoutMS)
		ms(v.servers[i]+".stop_grace_ms", s.StopGraceMS)
	}
	if t := v.spec.Timeouts; t != nil {
		ms("timeouts.idle_ms", t.IdleMS)
		ms("timeouts.connect_ms", t.ConnectMS)
		ms("timeouts.phase_ms", t.PhaseMS)
	}
	if l := v.spec.Limits; l != nil {
		count("limits.connections", l.Connections)
		count("limits.head_bytes", l.HeadBytes)
		ms("limits.head_ms", l.HeadMS)
		count("limits.message_bytes", l.MessageBytes)
		count("limits.garbage_lines", l.GarbageLines)
		within("limits.memory", l.Memory, math.MaxInt64)
		count("limits.pids", l.PIDs)
		count("limits.files", l.Files)
	}
}

func (v *validator) descriptors() {
	for i, fd := range v.spec.Descriptors {
		field := fmt.Sprintf("descriptors[%d]", i)
		switch {
		case fd < 3:
			v.at(field, fmt.Sprintf("%d is none that can be declared", fd), "0, 1 and 2 are always passed; name those from 3 on")
		case slices.Contains(v.spec.Descriptors[:i], fd):
			v.at(field, fmt.Sprintf("%d stands twice", fd), "remove one of them")
		}
	}
}
