// Package guardian owns the runtime directory of a phase. A killed process
// cannot unlink anything, so the directory belongs to a second process, in a
// session of its own, that ends with the first: it makes the directory, waits
// for the end of a pipe whose other end only the bridge holds, and removes it.
package guardian

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
)

// Role is the name under which the executable is started again.
const Role = "bridge-guardian"

// lifelineFD is the read end of the pipe, in the guardian.
const lifelineFD = 3

// Dir is a runtime directory: mode 0700, owned by the caller, empty at first.
type Dir struct {
	// Path is absolute and free of symbolic links.
	Path     string
	lifeline *os.File
	process  *exec.Cmd
}

// Open makes a new directory below base, which is made too if only its last
// element is missing; empty means [os.TempDir]. Who calls it must have called
// [Main] first thing in main.
func Open(base string) (*Dir, error) {
	if base == "" {
		var err error
		if base, err = filepath.EvalSymlinks(os.TempDir()); err != nil {
			return nil, fmt.Errorf("runtime directory: %w; set TMPDIR to one that exists", err)
		}
	}
	hold, lifeline, err := os.Pipe()
	if err != nil {
		return nil, fmt.Errorf("runtime directory: pipe: %w", err)
	}
	defer hold.Close()
	cmd := exec.Command("/proc/self/exe", base)
	cmd.Args[0] = Role
	cmd.Dir = "/"
	cmd.Env = []string{}
	cmd.ExtraFiles = []*os.File{hold}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	answer, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		lifeline.Close()
		return nil, fmt.Errorf("runtime directory: start the guardian: %w", err)
	}
	d := &Dir{lifeline: lifeline, process: cmd}
	line, err := bufio.NewReader(answer).ReadString('\n')
	status, rest, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
	switch {
	case err == nil && status == "ok":
		d.Path = rest
		return d, nil
	case err == nil:
		err = errors.New(rest)
	default:
		err = fmt.Errorf("the guardian ended without an answer; Main must be called first in main: %w", err)
	}
	d.Close()
	return nil, fmt.Errorf("runtime directory in %s: %w", base, err)
}

// Close removes the directory with all its content and waits until it is gone.
func (d *Dir) Close() error {
	d.lifeline.Close()
	err := d.process.Wait()
	if err == nil || d.Path == "" {
		return nil
	}
	// Somebody ended the guardian: then it falls to the bridge.
	if err := os.RemoveAll(d.Path); err != nil {
		return fmt.Errorf("remove the runtime directory: %w", err)
	}
	return nil
}

// Main runs the guardian and does not return when the executable was started
// under the name [Role]; otherwise it returns at once. Call it first in main
// and in TestMain.
func Main() {
	if len(os.Args) != 2 || os.Args[0] != Role {
		return
	}
	signal.Ignore(syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT, syscall.SIGPIPE)
	syscall.Umask(0o077) // the caller's may take the owner's own bits away
	// At once: there is nothing to flush, and the bridge waits.
	syscall.Exit(watch(os.Args[1], os.NewFile(lifelineFD, "lifeline"), os.Stdout))
}

// watch makes the directory, answers, and removes it at the end of lifeline.
func watch(base string, lifeline io.Reader, answer io.WriteCloser) int {
	made, err := prepare(base)
	defer func() {
		for _, path := range made.parents {
			_ = os.Remove(path) // not empty: another phase uses it too
		}
	}()
	if err != nil {
		fmt.Fprintf(answer, "error %s\n", strings.ReplaceAll(err.Error(), "\n", " "))
		return 1
	}
	fmt.Fprintf(answer, "ok %s\n", made.path)
	answer.Close()
	_, _ = io.Copy(io.Discard, lifeline)
	if err := os.RemoveAll(made.path); err != nil {
		return 1
	}
	return 0
}
