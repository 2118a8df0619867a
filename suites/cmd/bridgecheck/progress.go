package main

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"strings"

	"golang.org/x/sys/unix"
)

// progress returns where the lines of a run go. On a terminal what is green or
// not applicable shows for a moment only, in one line; everything else, and
// everything in a log, stays. The second value ends the last moment.
func progress(out *os.File) (io.Writer, func()) {
	size, err := unix.IoctlGetWinsize(int(out.Fd()), unix.TIOCGWINSZ)
	if err != nil || size.Col == 0 || os.Getenv("TERM") == "dumb" {
		return out, func() {}
	}
	p := &passing{out: out, width: int(size.Col)}
	return p, func() { p.clear() }
}

type passing struct {
	out   io.Writer
	width int
	part  []byte
	seen  int
}

func (p *passing) Write(b []byte) (int, error) {
	p.part = append(p.part, b...)
	for {
		i := bytes.IndexByte(p.part, '\n')
		if i < 0 {
			return len(b), nil
		}
		p.line(string(p.part[:i]))
		p.part = p.part[i+1:]
	}
}

func (p *passing) line(line string) {
	p.seen++
	if !strings.HasPrefix(line, "passed ") && !strings.HasPrefix(line, "n/a ") {
		fmt.Fprintf(p.out, "\r\x1b[K%s\n", line)
		return
	}
	line = fmt.Sprintf("%5d %s", p.seen, line)
	if len(line) >= p.width {
		line = strings.ToValidUTF8(line[:p.width-1], "")
	}
	fmt.Fprintf(p.out, "\r\x1b[K%s", line)
}

func (p *passing) clear() { fmt.Fprint(p.out, "\r\x1b[K") }
