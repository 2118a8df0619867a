package subject

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os/exec"
	"strings"
	"syscall"
	"time"
)

// DescribeTimeout is how long a subject may take to describe itself.
const DescribeTimeout = 5 * time.Second

// maxDescription bounds what is read of a subject that floods.
const maxDescription = 1 << 20

// Describe runs `path describe` and validates the answer. The error is one
// sentence that names the subject and what is wrong with it.
func Describe(ctx context.Context, path string) (Description, error) {
	var d Description
	ctx, cancel := context.WithTimeout(ctx, DescribeTimeout)
	defer cancel()
	cmd := exec.CommandContext(ctx, path, "describe")
	cmd.WaitDelay = time.Second
	// What the subject started goes with it.
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	// A subject that floods is ended, not read to its end.
	out, tail := &limited{most: maxDescription, full: cancel}, &limited{most: 4096, full: func() {}}
	cmd.Stdout, cmd.Stderr = out, tail
	err := cmd.Run()
	if cmd.Process != nil {
		_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) // no such group, as a rule
	}
	switch {
	case out.over:
		return d, fmt.Errorf("subject %s: describe printed more than %d bytes", path, maxDescription)
	case ctx.Err() != nil:
		return d, fmt.Errorf("subject %s: describe did not end within %s", path, DescribeTimeout)
	case errors.Is(err, exec.ErrWaitDelay):
		return d, fmt.Errorf("subject %s: describe left a process behind that holds its output", path)
	case err != nil:
		if said := strings.TrimSpace(tail.buf.String()); said != "" {
			return d, fmt.Errorf("subject %s: describe: %w: %s", path, err, said)
		}
		return d, fmt.Errorf("subject %s: describe: %w", path, err)
	}
	dec := json.NewDecoder(bytes.NewReader(out.buf.Bytes()))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&d); err != nil {
		return d, fmt.Errorf("subject %s: describe printed no valid description: %w", path, err)
	}
	if dec.More() {
		return d, fmt.Errorf("subject %s: describe printed more than one JSON value", path)
	}
	if err := d.Validate(); err != nil {
		return d, fmt.Errorf("subject %s: %w", path, err)
	}
	return d, nil
}

// limited keeps the first bytes, refuses the others and says when it is full.
// The buffer is no embedded field: its ReadFrom would take everything.
type limited struct {
	buf  bytes.Buffer
	most int
	over bool
	full func()
}

var errOver = errors.New("too much output")

func (l *limited) Write(p []byte) (int, error) {
	if l.buf.Len()+len(p) > l.most {
		l.over = true
		l.full()
		return 0, errOver
	}
	return l.buf.Write(p)
}
