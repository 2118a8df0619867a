package external

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// The longest lines that are read. An order holds the agent's arguments and
// environment, of which the kernel takes a quarter of the stack's limit at most,
// 2 MiB by default; a report holds a few words.
const (
	maxOrder  = 16 << 20
	maxReport = 64 << 10
)

// lines reads JSON lines, each an object in which exactly one field is set.
type lines[T order | report] struct {
	scan *bufio.Scanner
	max  int
}

func newLines[T order | report](r io.Reader, most int) *lines[T] {
	s := bufio.NewScanner(r)
	s.Buffer(make([]byte, 0, min(most, 4096)), most+1) // with the end of the line
	return &lines[T]{scan: s, max: most}
}

// next gives io.EOF at the end of the stream.
func (l *lines[T]) next() (v T, err error) {
	if !l.scan.Scan() {
		switch err := l.scan.Err(); {
		case errors.Is(err, bufio.ErrTooLong):
			return v, fmt.Errorf("a line is longer than %d bytes", l.max)
		case err != nil:
			return v, err
		}
		return v, io.EOF
	}
	line := l.scan.Bytes()
	d := json.NewDecoder(bytes.NewReader(line))
	d.DisallowUnknownFields()
	if err := d.Decode(&v); err != nil {
		return v, fmt.Errorf("line %.80q: %w", line, err)
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return v, fmt.Errorf("line %.80q holds more than one value", line)
	}
	if n := set(v); n != 1 {
		return v, fmt.Errorf("line %.80q says %d things: one is meant", line, n)
	}
	return v, nil
}

// set counts the fields that are.
func set[T order | report](v T) (n int) {
	count := func(is bool) {
		if is {
			n++
		}
	}
	switch v := any(v).(type) {
	case order:
		count(v.Launch != nil)
		count(v.Signal != 0)
		count(v.Kill)
	case report:
		count(v.About != nil)
		count(v.Started != nil)
		count(v.Refused != nil)
		count(v.Failed != nil)
		count(v.Exited != nil)
	}
	return n
}

// send writes one line in one piece.
func send[T order | report](w io.Writer, v T) error {
	text, err := json.Marshal(v)
	if err != nil {
		return err
	}
	_, err = w.Write(append(text, '\n'))
	return err
}
