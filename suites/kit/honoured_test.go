package kit

import (
	"testing"

	"bridgecheck/suites/subject"
)

// TestUnsupported holds what counts as an honest refusal of a field: anything
// else must stay a failure of the check.
func TestUnsupported(t *testing.T) {
	refusal := func(field string) subject.Event {
		return subject.Event{Kind: subject.EventUnsupported, Field: field}
	}
	for name, tt := range map[string]struct {
		events []subject.Event
		want   bool
	}{
		"the field":               {[]subject.Event{refusal("paths")}, true},
		"a part of it":            {[]subject.Event{refusal("paths.ro")}, true},
		"an element of it":        {[]subject.Event{refusal("paths[0]")}, true},
		"another beside it":       {[]subject.Event{refusal("tty"), refusal("paths.rw")}, true},
		"another":                 {[]subject.Event{refusal("seccomp")}, false},
		"one that begins with it": {[]subject.Event{refusal("pathsonly")}, false},
		"no name":                 {[]subject.Event{refusal("")}, false},
		"an error":                {[]subject.Event{{Kind: subject.EventError, Field: "paths"}}, false},
		"an agent all the same":   {[]subject.Event{refusal("paths"), {Kind: subject.EventReady}}, false},
		"nothing":                 {nil, false},
	} {
		if _, got := unsupported(tt.events, []string{"limits", "paths"}); got != tt.want {
			t.Errorf("%s: got %v, want %v", name, got, tt.want)
		}
	}
}
