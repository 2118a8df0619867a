package probe

import (
	"context"
	"errors"
	"io"
	"os"

	"golang.org/x/sys/unix"

	"bridgecheck/fakes/attempt"
	"bridgecheck/fakes/content"
)

// stdin reads the next Size bytes that follow the attempt's line.
func (p *Probe) stdin(_ context.Context, a attempt.Attempt) attempt.Observation {
	var sink content.Digest
	_, err := io.CopyN(&sink, p.in, a.Size)
	o := failed(err)
	o.Bytes, o.SHA256 = sink.Bytes, sink.SHA256()
	return o
}

// write sends Size raw bytes of Seed. On stdout a line feed ends them, so that
// the observation stands on a line of its own.
func (p *Probe) write(_ context.Context, a attempt.Attempt) attempt.Observation {
	out := p.out
	switch {
	case len(a.Args) == 1 && a.Args[0] == "terminal":
		return failed(writeTerminal(a.Data))
	case len(a.Args) == 1 && a.Args[0] == "stderr":
		out = p.err
	case len(a.Args) != 1 || a.Args[0] != "stdout":
		return refused("write to %q: stdout, stderr or terminal", a.Args)
	}
	var sink content.Digest
	_, err := io.Copy(out, io.TeeReader(content.Reader(a.Seed, a.Size), &sink))
	if a.Args[0] == "stdout" {
		_, _ = io.WriteString(p.out, "\n")
	}
	o := failed(err)
	o.Bytes, o.SHA256 = sink.Bytes, sink.SHA256()
	return o
}

// writeTerminal writes to the controlling terminal, whichever that is.
func writeTerminal(data []byte) error {
	tty, err := os.OpenFile("/dev/tty", os.O_WRONLY|unix.O_NOCTTY, 0)
	if err != nil {
		return err
	}
	_, err = tty.Write(data)
	return errors.Join(err, tty.Close())
}
