package main

import (
	"bytes"
	"os"
	"strings"
	"testing"
)

// TestPassing: what is green is overwritten, what is not stays on a line of its
// own, and no line is longer than the terminal is wide.
func TestPassing(t *testing.T) {
	var out bytes.Buffer
	p := &passing{out: &out, width: 40}
	for _, part := range []string{"passed  user ALW-001 5 ms  a title that is far too long for this\nfail", "ed  user ALW-002\n", "n/a     user X\n"} {
		if n, err := p.Write([]byte(part)); n != len(part) || err != nil {
			t.Fatal(n, err)
		}
	}
	p.clear()
	got := out.String()
	if strings.Count(got, "\n") != 1 || !strings.Contains(got, "\x1b[Kfailed  user ALW-002\n") {
		t.Errorf("got %q", got)
	}
	for _, line := range strings.FieldsFunc(got, func(r rune) bool { return r == '\r' || r == '\n' }) {
		if len(strings.TrimPrefix(line, "\x1b[K")) >= 40 {
			t.Errorf("a line of %d: %q", len(line), line)
		}
	}
}

// TestProgressInALog leaves a file as it is.
func TestProgressInALog(t *testing.T) {
	f, err := os.Create(t.TempDir() + "/log")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	w, end := progress(f)
	defer end()
	if w != f {
		t.Errorf("a log gets %T", w)
	}
}
