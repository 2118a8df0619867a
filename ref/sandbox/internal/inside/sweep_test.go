package inside

import (
	"strings"
	"testing"
)

func TestParent(t *testing.T) {
	for stat, want := range map[string]string{
		"12 (sleep) S 7 12 12 0": "7",
		"12 (a b) S 7 12":        "7",
		"12 (x) S 9 (y) S 7 12":  "7",
		"12 () S 7":              "7",
		"12 (sleep) S":           "",
		"12 (sleep":              "(sleep", // no process is called that
		"":                       "",
	} {
		if got := parent(stat); got != want {
			t.Errorf("%q: got %q, want %q", stat, got, want)
		}
	}
}

// Whatever a process calls itself, its parent is told.
func FuzzParent(f *testing.F) {
	for _, name := range []string{"sleep", "a) S 1 ", "", "(", ")", "\n) S 3"} {
		f.Add(name)
	}
	f.Fuzz(func(t *testing.T, name string) {
		if got := parent("12 (" + name + ") S 77 12 12 0 -1"); got != "77" {
			t.Errorf("%q: got %q, want 77", name, got)
		}
		_ = parent(strings.Repeat(name, 2))
	})
}
