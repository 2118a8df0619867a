package contain

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"sync"
	"syscall"
	"time"
)

// killBound is how long a process-group sweep may take before its guardian is
// killed as well.
const killBound = sweepBound + time.Second

// Tree is a running command with all its descendants.
type Tree struct {
	Level  string   // [Namespace] or [ProcessGroup]
	Stdin  *os.File // closing it is the server's end of input
	Stdout *os.File
	Stderr *os.File

	cmd        *exec.Cmd
	control    *os.File
	reports    *bufio.Reader
	reportPipe *os.File
	done       chan struct{}
	exit       Exit
	kill       sync.Once
}

// Done is closed when the command has ended, and everything it started with it: in
// a process group, what a sweep of two seconds could end.
func (t *Tree) Done() <-chan struct{} { return t.done }

// Exit tells how the command ended. It must be called after Done is closed.
func (t *Tree) Exit() Exit { return t.exit }

// Term sends SIGTERM to every process of the tree: a wrapper such as npx does
// not always pass it on.
func (t *Tree) Term() error {
	if _, err := t.control.WriteString(wordTerm + "\n"); err != nil {
		return fmt.Errorf("send SIGTERM: %w", err)
	}
	return nil
}

// Kill ends the tree by SIGKILL and does not wait for it.
func (t *Tree) Kill() {
	t.kill.Do(func() {
		if t.Level == Namespace {
			_ = t.cmd.Process.Kill()
			return
		}
		// The guardian must live to sweep.
		_, _ = t.control.WriteString(wordKill + "\n")
		go func() {
			select {
			case <-t.done:
			case <-time.After(killBound):
				_ = t.cmd.Process.Kill()
			}
		}()
	})
}

// wait collects the command's exit and the intermediate.
func (t *Tree) wait() {
	exit := Exit{Signal: syscall.SIGKILL} // what it is when the intermediate could not tell
	var r report
	if err := t.readReport(&r); err == nil && r.Exit != nil {
		exit = *r.Exit
	}
	_ = t.cmd.Wait() // its own status says nothing about the command
	t.exit = exit
	_ = t.control.Close()
	_ = t.reportPipe.Close()
	close(t.done)
}

// pipe is one os.Pipe.
type pipe struct{ r, w *os.File }

// pipes are those between the starter and the intermediate.
type pipes struct{ stdin, stdout, stderr, control, report pipe }

func newPipes() (*pipes, error) {
	p := &pipes{}
	for _, one := range []*pipe{&p.stdin, &p.stdout, &p.stderr, &p.control, &p.report} {
		r, w, err := os.Pipe()
		if err != nil {
			p.closeTheirs()
			p.closeOurs()
			return nil, fmt.Errorf("make pipe: %w", err)
		}
		one.r, one.w = r, w
	}
	return p, nil
}

// closeTheirs and closeOurs may be called twice: closing a closed or nil
// *os.File is an error without effect.
func (p *pipes) closeTheirs() {
	for _, f := range []*os.File{p.stdin.r, p.stdout.w, p.stderr.w, p.control.r, p.report.w} {
		_ = f.Close()
	}
}

func (p *pipes) closeOurs() {
	for _, f := range []*os.File{p.stdin.w, p.stdout.r, p.stderr.r, p.control.w, p.report.r} {
		_ = f.Close()
	}
}
