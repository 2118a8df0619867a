package mcpserver

import (
	"cmp"
	"context"
	"log/slog"
	"slices"
	"strings"
)

// shortestSecret is the least length of a value that is hidden, in bytes: shorter
// ones are words and numbers that mean nothing by themselves.
const shortestSecret = 8

// hider puts ${NAME} in place of the value of a configured variable, for what is
// shown of a server's output: servers print their environment when they fail.
type hider struct {
	whole *strings.Replacer
	lines []secret // the longest first
}

// secret is a line of a value: output is shown line by line.
type secret struct{ text, name string }

func newHider(env map[string]string) hider {
	var h hider
	for name, value := range env {
		for line := range strings.Lines(value) {
			if line = strings.TrimSpace(line); len(line) >= shortestSecret {
				h.lines = append(h.lines, secret{line, name})
			}
		}
	}
	// Of two values that begin alike the longer one must be found.
	slices.SortFunc(h.lines, func(a, b secret) int {
		return cmp.Or(cmp.Compare(len(b.text), len(a.text)), cmp.Compare(a.name, b.name))
	})
	var pairs []string
	for _, s := range h.lines {
		pairs = append(pairs, s.text, s.mark())
	}
	h.whole = strings.NewReplacer(pairs...)
	return h
}

func (s secret) mark() string { return "${" + s.name + "}" }

// hide also finds the beginning of a value at the end of text, which may have
// been cut there.
func (h hider) hide(text string) string {
	text = h.whole.Replace(text)
	cut := strings.TrimRight(text, "\ufffd") // what a cut leaves of a character
	for _, s := range h.lines {
		for n := len(s.text) - 1; n >= shortestSecret/2; n-- {
			if rest, found := strings.CutSuffix(cut, s.text[:n]); found {
				return rest + s.mark()
			}
		}
	}
	return text
}

// hiding is a log in which the texts of attributes go through a hider.
type hiding struct {
	slog.Handler
	secrets hider
}

// Handle implements slog.Handler.
func (h hiding) Handle(ctx context.Context, r slog.Record) error {
	clean := slog.NewRecord(r.Time, r.Level, r.Message, r.PC)
	r.Attrs(func(a slog.Attr) bool {
		switch v := a.Value.Any().(type) {
		case string:
			a = slog.String(a.Key, h.secrets.hide(v))
		case error:
			a = slog.String(a.Key, h.secrets.hide(v.Error()))
		}
		clean.AddAttrs(a)
		return true
	})
	return h.Handler.Handle(ctx, clean)
}

// WithAttrs implements slog.Handler.
func (h hiding) WithAttrs(attrs []slog.Attr) slog.Handler {
	return hiding{h.Handler.WithAttrs(attrs), h.secrets}
}

// WithGroup implements slog.Handler.
func (h hiding) WithGroup(name string) slog.Handler {
	return hiding{h.Handler.WithGroup(name), h.secrets}
}
