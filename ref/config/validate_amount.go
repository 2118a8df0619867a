package config

import (
	"fmt"
	"slices"
)

// amounts: nothing that is counted may be negative. 0 is the default.
func (v *validator) amounts() {
	check := func(field string, n int64) {
		if n < 0 {
			v.at(field, fmt.Sprintf("%d is negative", n), "give a positive number, or leave it out for the default")
		}
	}
	for i, s := range v.spec.Servers {
		check(v.servers[i]+".start_timeout_ms", int64(s.StartTimeoutMS))
		check(v.servers[i]+".stop_grace_ms", int64(s.StopGraceMS))
	}
	if t := v.spec.Timeouts; t != nil {
		check("timeouts.idle_ms", int64(t.IdleMS))
		check("timeouts.connect_ms", int64(t.ConnectMS))
		check("timeouts.phase_ms", int64(t.PhaseMS))
	}
	if l := v.spec.Limits; l != nil {
		check("limits.connections", int64(l.Connections))
		check("limits.head_bytes", int64(l.HeadBytes))
		check("limits.head_ms", int64(l.HeadMS))
		check("limits.message_bytes", int64(l.MessageBytes))
		check("limits.garbage_lines", int64(l.GarbageLines))
		check("limits.memory", l.Memory)
		check("limits.pids", int64(l.PIDs))
		check("limits.files", int64(l.Files))
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
