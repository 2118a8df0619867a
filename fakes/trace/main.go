package trace

import (
	"fmt"
	"io"
)

// Flag comes before the number of the process in the arguments of the probe.
const Flag = "--watch"

// Begun is the first line of Main's output.
const Begun = "watching"

// Main is a program that watches a process until its input ends: then it must
// exit, with the code.
func Main(pid int, in io.Reader, out, errs io.Writer) (code int) {
	ended := make(chan error, 1)
	go func() {
		ended <- Watch(pid, func() { fmt.Fprintln(out, Begun) }, func(line string) { fmt.Fprintln(out, line) })
	}()
	closed := make(chan struct{})
	go func() {
		defer close(closed)
		_, _ = io.Copy(io.Discard, in) // its end is all that it says
	}()
	select {
	case err := <-ended:
		if err != nil {
			fmt.Fprintln(errs, err)
			return 1
		}
	case <-closed:
	}
	return 0
}
