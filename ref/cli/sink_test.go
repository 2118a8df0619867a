package cli

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

// fill writes to a descriptor until nothing fits any more.
func fill(t *testing.T, f *os.File) {
	t.Helper()
	conn, err := f.SyscallConn()
	if err != nil {
		t.Fatal(err)
	}
	err = conn.Control(func(fd uintptr) {
		if err = unix.SetNonblock(int(fd), true); err != nil {
			return
		}
		for err == nil {
			_, err = unix.Write(int(fd), []byte("x\n"))
		}
	})
	if err != nil && !errors.Is(err, unix.EAGAIN) {
		t.Fatal(err)
	}
}

// A reader that has stopped reading does not hold the phase, and is no reader
// that may believe the phase went well.
func TestControlThatIsNotRead(t *testing.T) {
	_, theirs := socketpair(t)
	fill(t, theirs)
	cmd := program(t, "run", "--spec", "s.json", "--control", "3", "--events", "e.jsonl")
	cmd.ExtraFiles = []*os.File{theirs}
	write(t, cmd, "s.json", `{"agent": {"path": "/bin/sh", "args": ["-c", "echo ran"]}}`)
	code, out, stderr := run(t, cmd)
	if code != 125 || !strings.Contains(stderr, "control: not read for") {
		t.Errorf("exit %d, stderr %q", code, stderr)
	}
	if out != "" {
		t.Errorf("the agent ran although nothing of it could be told: %q", out)
	}
	events, err := os.ReadFile(filepath.Join(cmd.Dir, "e.jsonl"))
	if err != nil || !strings.Contains(string(events), `"event":"exit","code":125,"reason":"failure"`) {
		t.Errorf("events %s, %v", events, err)
	}
}

// A reader that has gone ends the phase as the end of the stream does.
func TestControlWhoseReaderIsGone(t *testing.T) {
	ours, theirs := socketpair(t)
	// The one who closes for reading alone still holds the other half open.
	if err := unix.Shutdown(int(ours.Fd()), unix.SHUT_RD); err != nil {
		t.Fatal(err)
	}
	cmd := program(t, "run", "--spec", "s.json", "--control", "3")
	cmd.ExtraFiles = []*os.File{theirs}
	write(t, cmd, "s.json", `{}`)
	if code, _, stderr := run(t, cmd); code != 0 {
		t.Errorf("exit %d, stderr %q", code, stderr)
	}
}

func TestSinkGivesUpOnce(t *testing.T) {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	defer w.Close()
	fill(t, w)
	s := &sink{file: w}
	_, first := s.Write([]byte("{}\n"))
	if !errors.Is(first, os.ErrDeadlineExceeded) {
		t.Fatalf("error %v", first)
	}
	if _, err := unix.Read(int(r.Fd()), make([]byte, 1<<20)); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Write([]byte("{}\n")); err != first {
		t.Errorf("a line was written after one was lost: %v", err)
	}
	_ = r.Close()
	other := &sink{file: w}
	if _, err := other.Write([]byte("{}\n")); !errors.Is(err, syscall.EPIPE) {
		t.Errorf("error %v", err)
	}
}
