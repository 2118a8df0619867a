package config

import (
	"errors"
	"fmt"
	"strings"
)

// Problem is one thing wrong with a configuration.
type Problem struct {
	File    string // empty when the Spec came from a program
	Line    int    // from 1; 0 when there is no file
	Field   string // servers[0].port
	Server  string // the server concerned, if it is one
	Message string // what is wrong; never a secret
	Fix     string // what to write instead
}

// String is file:line: field: message; fix.
func (p Problem) String() string {
	var b strings.Builder
	if p.File != "" {
		fmt.Fprintf(&b, "%s:%d: ", p.File, p.Line)
	}
	if p.Field != "" {
		b.WriteString(p.Field + ": ")
	}
	b.WriteString(p.Message)
	if p.Fix != "" {
		b.WriteString("; " + p.Fix)
	}
	return b.String()
}

// Error is everything wrong with one configuration, in the order of the file.
type Error struct{ Problems []Problem }

// Error lists the problems, one a line.
func (e *Error) Error() string { return strings.Join(e.Lines(), "\n") }

// Lines returns one line a problem.
func (e *Error) Lines() []string {
	lines := make([]string, len(e.Problems))
	for i, p := range e.Problems {
		lines[i] = p.String()
	}
	return lines
}

// Server names the server that the first server-bound problem is about.
func (e *Error) Server() string {
	for _, p := range e.Problems {
		if p.Server != "" {
			return p.Server
		}
	}
	return ""
}

// Problems returns what err holds when it is an [*Error].
func Problems(err error) []Problem {
	if e, ok := errors.AsType[*Error](err); ok {
		return e.Problems
	}
	return nil
}
