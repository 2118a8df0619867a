package external

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// HelperError is a helper that ended without telling, or said what cannot be
// understood. What became of the agent is not known.
type HelperError struct{ Err error }

func (e *HelperError) Error() string { return "the launcher's helper: " + e.Err.Error() }

func (e *HelperError) Unwrap() error { return e.Err }

// helper is the process as the bridge sees it.
type helper struct {
	About About

	cmd     *exec.Cmd
	reports *lines[report]

	mu     sync.Mutex  // guards stream against its closing
	stream *os.File    // nil when closed
	last   *time.Timer // ends the process
}

// maxTemporary is the length of a directory in which a backend has room for a
// directory of its own with a socket in it: the kernel takes 107 bytes, unix(7),
// and arapuca-connect-proxy-XXXXXX/connect.sock has 41.
const maxTemporary = 107 - 48

// startHelper starts the process with the agent's streams and reads what it is.
// dir is for its temporary files, unless it is empty or too long for that.
func startHelper(ctx context.Context, cmd *exec.Cmd, dir string, stdin, stdout, stderr *os.File) (*helper, error) {
	pair, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, &HelperError{fmt.Errorf("socketpair: %w", err)}
	}
	theirs := os.NewFile(uintptr(pair[1]), "helper's end")
	defer theirs.Close()
	if err := unix.SetNonblock(pair[0], true); err != nil { // deadlines need it
		return nil, errors.Join(&HelperError{err}, unix.Close(pair[0]))
	}
	h := &helper{cmd: cmd, stream: os.NewFile(uintptr(pair[0]), "helper")}
	h.reports = newLines[report](h.stream, maxReport)
	// Only files: for anything else exec would make a pipe, which the agent may
	// hold open longer than the helper lives.
	if stdin != nil {
		cmd.Stdin = stdin
	}
	if stdout != nil {
		cmd.Stdout = stdout
	}
	if stderr != nil {
		cmd.Stderr = stderr
	}
	if dir != "" && len(dir) <= maxTemporary { // what it forgets there is removed all the same
		if cmd.Env == nil {
			cmd.Env = os.Environ()
		}
		cmd.Env = append(cmd.Env, "TMPDIR="+dir)
	}
	cmd.ExtraFiles = []*os.File{theirs} // controlFD
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := cmd.Start(); err != nil {
		return nil, errors.Join(&HelperError{err}, h.stream.Close())
	}
	_ = theirs.Close() // else its end would not be seen
	first, err := h.next(ctx)
	if err == nil && first.About == nil {
		err = errors.New("it does not begin with what it is")
	}
	if err != nil {
		h.end()
		return nil, &HelperError{err}
	}
	h.About = *first.About
	return h, nil
}

// next reads one report; the end of ctx ends the wait for it.
func (h *helper) next(ctx context.Context) (report, error) {
	stream := h.stream
	stop := context.AfterFunc(ctx, func() { _ = stream.SetReadDeadline(time.Unix(1, 0)) })
	defer stop()
	r, err := h.reports.next()
	switch {
	case errors.Is(err, os.ErrDeadlineExceeded):
		err = fmt.Errorf("it did not answer: %w", context.Cause(ctx))
	case errors.Is(err, io.EOF), errors.Is(err, unix.ECONNRESET):
		err = errors.New("it ended without telling why")
	}
	return r, err
}

// order sends one line; a helper that does not read is not waited for long.
func (h *helper) order(o order) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.stream == nil {
		return errors.New("the sandbox has ended")
	}
	_ = h.stream.SetWriteDeadline(time.Now().Add(patience))
	if err := send(h.stream, o); err != nil {
		return &HelperError{fmt.Errorf("tell it: %w", err)}
	}
	return nil
}

// kill has the helper end its agent, and ends the helper where it does not.
func (h *helper) kill() {
	_ = h.order(order{Kill: true}) // it may have ended
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.last == nil {
		h.last = time.AfterFunc(patience, func() { _ = h.cmd.Process.Kill() })
	}
}

// end waits for the process, which the end of the stream ends in patience, and
// says how it ended.
func (h *helper) end() string {
	h.mu.Lock()
	_ = h.stream.Close()
	h.stream = nil
	if h.last == nil {
		h.last = time.AfterFunc(patience+time.Second, func() { _ = h.cmd.Process.Kill() })
	}
	h.mu.Unlock()
	_ = h.cmd.Wait() // its state says all
	h.last.Stop()
	return h.cmd.ProcessState.String()
}
