package cli

import (
	"fmt"
	"io"
	"os"

	"golang.org/x/sys/unix"

	"bridgecheck/ref/config"
)

// screen is where a person, or a file, reads errors.
type screen struct {
	io.Writer
	colour bool
	rows   int // 0 where there is no end of the page
}

// stderr is a screen when a terminal shows it; colours are left out for those
// who do not want them (no-color.org) or whose terminal has none.
func stderr() screen {
	s := screen{Writer: errOut}
	if size, err := unix.IoctlGetWinsize(unix.Stderr, unix.TIOCGWINSZ); err == nil {
		s.rows = max(int(size.Row), 10)
		s.colour = os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb"
	}
	return s
}

// paint shows text in a rendition of ECMA-48: "1" is bold, "31" red, "32" green.
func (s screen) paint(rendition, text string) string {
	if !s.colour {
		return text
	}
	return "\x1b[" + rendition + "m" + text + "\x1b[0m"
}

// wrong tells what is to be changed in a configuration: one line a problem for
// files and pipes, and on a terminal as much as a page holds, each with its fix
// below it.
func (s screen) wrong(file string, err error) {
	problems := config.Problems(err)
	if problems == nil {
		fmt.Fprintln(s, err)
		return
	}
	if s.rows == 0 {
		for _, p := range problems {
			fmt.Fprintln(s, p)
		}
		return
	}
	const around, each = 5, 2 // lines before and after, and of a problem
	shown := min(len(problems), max(1, (s.rows-around)/each))
	for _, p := range problems[:shown] {
		p, fix := p, p.Fix
		p.Fix = ""
		fmt.Fprintln(s, s.location(p)+p.Message)
		if fix != "" {
			fmt.Fprintln(s, "    "+s.paint("32", fix))
		}
	}
	if more := len(problems) - shown; more > 0 {
		fmt.Fprintf(s, "and %d more: refbridge validate -c %s 2>&1 | more\n", more, file)
	}
}

// location is what stands before the message, as String has it.
func (s screen) location(p config.Problem) string {
	at := ""
	if p.File != "" {
		at = s.paint("1", fmt.Sprintf("%s:%d:", p.File, p.Line)) + " "
	}
	if p.Field != "" {
		at += s.paint("31", p.Field) + ": "
	}
	return at
}
