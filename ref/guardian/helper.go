package guardian

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"syscall"
)

// Role is the name under which the executable is started again.
const Role = "bridge-guardian"

// What a guardian can be asked to do.
const (
	taskDirectory = "directory"
	taskTerminal  = "terminal"
	taskGroup     = "group"
	taskNothing   = "nothing"
)

// lifelineFD is the read end of the pipe, in the guardian.
const lifelineFD = 3

// helper is a guardian as the bridge sees it.
type helper struct {
	answer   string
	lifeline *os.File
	process  *exec.Cmd
}

// start starts a guardian and waits for its answer; stdin may be nil.
func start(task, argument string, stdin *os.File) (*helper, error) {
	hold, lifeline, err := os.Pipe()
	if err != nil {
		return nil, fmt.Errorf("pipe: %w", err)
	}
	defer hold.Close()
	cmd := exec.Command("/proc/self/exe", task, argument)
	cmd.Args[0] = Role
	cmd.Dir = "/"
	cmd.Env = []string{}
	cmd.ExtraFiles = []*os.File{hold}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if stdin != nil {
		cmd.Stdin = stdin
	}
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		lifeline.Close()
		return nil, fmt.Errorf("start the guardian: %w", err)
	}
	h := &helper{lifeline: lifeline, process: cmd}
	line, err := bufio.NewReader(out).ReadString('\n')
	status, rest, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
	switch {
	case err == nil && status == "ok":
		h.answer = rest
		return h, nil
	case err == nil:
		err = errors.New(rest)
	default:
		err = fmt.Errorf("the guardian ended without an answer; Main must be called first in main: %w", err)
	}
	_ = h.end() // it has failed already, and said why
	return nil, err
}

// end tells the guardian to undo what it did, and waits until it has.
func (h *helper) end() error {
	h.lifeline.Close()
	return h.process.Wait()
}

// reply is the guardian's answer: text, or err. It reports whether there was none.
func reply(answer io.WriteCloser, text string, err error) bool {
	defer answer.Close()
	if err != nil {
		fmt.Fprintf(answer, "error %s\n", strings.ReplaceAll(err.Error(), "\n", " "))
		return false
	}
	fmt.Fprintf(answer, "ok %s\n", text)
	return true
}
