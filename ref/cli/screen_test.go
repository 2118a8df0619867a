package cli

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"bridgecheck/ref/config"
)

// A page holds what is to be changed, and says where the rest is.
func TestScreen(t *testing.T) {
	var all config.Error
	for i := range 30 {
		all.Problems = append(all.Problems, config.Problem{File: "f", Line: i + 1, Field: "x", Message: "wrong", Fix: "write right"})
	}
	show := func(s screen, err error) string {
		var text strings.Builder
		s.Writer = &text
		s.wrong("f", err)
		return text.String()
	}
	page := show(screen{rows: 24}, &all)
	if lines := strings.Count(page, "\n"); lines > 24-2 || !strings.HasPrefix(page, "f:1: x: wrong\n    write right\n") || !strings.HasSuffix(page, "and 21 more: refbridge validate -c f 2>&1 | more\n") {
		t.Errorf("a page of %d lines:\n%s", lines, page)
	}
	if coloured := show(screen{rows: 24, colour: true}, &config.Error{Problems: all.Problems[:1]}); coloured != "\x1b[1mf:1:\x1b[0m \x1b[31mx\x1b[0m: wrong\n    \x1b[32mwrite right\x1b[0m\n" {
		t.Errorf("%q", coloured)
	}
	plain := show(screen{}, &all)
	if want := fmt.Sprintln(&all); plain != want {
		t.Errorf("a file gets\n%s\nwant\n%s", plain, want)
	}
	if other := show(screen{rows: 24}, errors.New("no such file")); other != "no such file\n" {
		t.Errorf("%q", other)
	}
}
