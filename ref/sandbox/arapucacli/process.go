package arapucacli

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"bridgecheck/ref/sandbox/external"
)

// ownFailure is arapuca's exit code for one of its own; signalled is added to the
// number of a signal that ended the agent.
const (
	ownFailure = 125
	signalled  = 128
	lastSignal = 64
)

// process is one `arapuca run`.
type process struct {
	cmd   *exec.Cmd
	said  *ear
	ended chan struct{}
	once  sync.Once
}

// start starts it with the agent's streams. It ends with the calling thread.
func start(cmd *exec.Cmd, stdin, stdout, stderr *os.File) (*process, error) {
	// Nobody reading stderr must not end this process; unlike an ignored signal
	// this is not inherited.
	signal.Notify(make(chan os.Signal, 1), unix.SIGPIPE)
	said, err := listen(stderr)
	if err != nil {
		return nil, err
	}
	cmd.Stdin, cmd.Stdout, cmd.Stderr = stdin, stdout, said.write
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: unix.SIGKILL}
	err = cmd.Start()
	_ = said.write.Close() // the child has it
	if err != nil {
		said.stop()
		return nil, err
	}
	return &process{cmd: cmd, said: said, ended: make(chan struct{})}, nil
}

func (p *process) PID() int { return p.cmd.Process.Pid }

// Signal goes by way of arapuca, which passes on these alone.
func (p *process) Signal(s syscall.Signal) error {
	if s != unix.SIGTERM && s != unix.SIGINT {
		return fmt.Errorf("signal %d: arapuca passes on SIGTERM and SIGINT alone", int(s))
	}
	return p.cmd.Process.Signal(s)
}

// unheard is how long arapuca has to clear up when what it started is gone.
const unheard = 2 * time.Second

// Kill ends what arapuca has started, so that it clears up, and then arapuca.
func (p *process) Kill() error {
	p.once.Do(func() {
		go func() {
			late := time.After(unheard)
			for again := time.After(0); ; again = time.After(unheard / 20) { // it may be about to start one
				select {
				case <-p.ended:
					return
				case <-late:
					_ = p.cmd.Process.Kill() // it may have ended
					return
				case <-again:
				}
				for _, child := range children(p.PID()) {
					_ = unix.Kill(child, unix.SIGKILL) // it may have ended
				}
			}
		}()
	})
	return nil
}

// children are the processes that one has started.
func children(pid int) (all []int) {
	lists, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", pid))
	for _, list := range lists {
		text, err := os.ReadFile(list)
		if err != nil {
			continue // the thread has ended
		}
		for field := range strings.FieldsSeq(string(text)) {
			var child int
			if _, err := fmt.Sscan(field, &child); err == nil {
				all = append(all, child)
			}
		}
	}
	return all
}

// Wait tells how the agent ended, as far as it can be told from outside.
func (p *process) Wait() (external.Exited, error) {
	_ = p.cmd.Wait() // the state says all
	close(p.ended)
	words := p.said.stop()
	status := p.cmd.ProcessState.Sys().(syscall.WaitStatus)
	code := status.ExitStatus()
	switch {
	case status.Signaled() && status.Signal() == unix.SIGKILL:
		return external.Exited{Signal: int(unix.SIGKILL)}, nil
	case status.Signaled():
		return external.Exited{}, fmt.Errorf("arapuca was ended by signal %d", int(status.Signal()))
	case code == ownFailure && words != "":
		return external.Exited{}, external.Explain(words)
	case code > signalled && code <= signalled+lastSignal:
		return external.Exited{Signal: code - signalled}, nil
	}
	return external.Exited{Code: code}, nil
}

// ear passes the agent's stderr on and notes what arapuca says there.
type ear struct {
	write *os.File // for the child
	read  *os.File
	done  chan struct{}
	words []byte
}

// prefix is what each line of arapuca's own begins with.
const prefix = "arapuca:"

func listen(to *os.File) (*ear, error) {
	r, w, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	e := &ear{write: w, read: r, done: make(chan struct{})}
	go e.pass(to)
	return e, nil
}

// pass copies everything as it comes. A line of arapuca's is kept if it is the
// beginning of what is read: it writes lines whole.
func (e *ear) pass(to *os.File) {
	defer close(e.done)
	buf := make([]byte, 32<<10)
	for {
		n, err := e.read.Read(buf)
		for line := range bytes.Lines(buf[:n]) {
			if bytes.HasPrefix(line, []byte(prefix)) {
				e.words = bytes.Clone(bytes.TrimSpace(line))
			}
		}
		if err != nil {
			return
		}
		if _, err := to.Write(buf[:n]); err != nil {
			_ = e.read.Close() // the agent is to notice, too
			return
		}
	}
}

// stop ends it, when arapuca has ended, and gives its last line. What still holds
// the stream then is not waited for, nor for long a reader who does not read.
func (e *ear) stop() string {
	const late, unread = time.Second, 10 * time.Second
	_ = e.read.SetReadDeadline(time.Now().Add(late))
	select {
	case <-e.done:
	case <-time.After(unread):
		return ""
	}
	_ = e.read.Close()
	return string(e.words)
}
