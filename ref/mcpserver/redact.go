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
func hider(env map[string]string) *strings.Replacer {
	type pair struct{ line, name string }
	var all []pair
	for name, value := range env {
		for line := range strings.Lines(value) { // output is shown line by line
			if line = strings.TrimSpace(line); len(line) >= shortestSecret {
				all = append(all, pair{line, name})
			}
		}
	}
	// Of two values that begin alike the longer one must be found.
	slices.SortFunc(all, func(a, b pair) int {
		return cmp.Or(cmp.Compare(len(b.line), len(a.line)), cmp.Compare(a.name, b.name))
	})
	var pairs []string
	for _, p := range all {
		pairs = append(pairs, p.line, "${"+p.name+"}")
	}
	return strings.NewReplacer(pairs...)
}

// hiding is a log in which the texts of attributes go through a hider.
type hiding struct {
	slog.Handler
	secrets *strings.Replacer
}

// Handle implements slog.Handler.
func (h hiding) Handle(ctx context.Context, r slog.Record) error {
	clean := slog.NewRecord(r.Time, r.Level, r.Message, r.PC)
	r.Attrs(func(a slog.Attr) bool {
		switch v := a.Value.Any().(type) {
		case string:
			a = slog.String(a.Key, h.secrets.Replace(v))
		case error:
			a = slog.String(a.Key, h.secrets.Replace(v.Error()))
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
