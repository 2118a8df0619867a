package contain

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"os/signal"
	"runtime"
	"sync"
	"sync/atomic"
	"syscall"

	"golang.org/x/sys/unix"
)

// Main runs the intermediate process and does not return when the executable
// was started under the name [Role]; otherwise it returns at once. Call it first
// in main and in TestMain.
func Main() {
	mainCalled.Store(true)
	if len(os.Args) != 2 || os.Args[0] != Role {
		return
	}
	// Capabilities, PR_SET_PDEATHSIG and the fork of the command belong to one thread.
	runtime.LockOSThread()
	// Not os.Exit: there is nothing to flush, and a race build would sleep first.
	syscall.Exit(intermediate(os.Args[1]))
}

// mainCalled guards against a program that does not call Main: run again as the
// intermediate it would do all that it does, and run itself again, without end.
var mainCalled atomic.Bool

func intermediate(level string) int {
	// Not only ours: whatever the starter's own parent forgot to close would be
	// a way out of, or a pipe held open by, the server.
	if err := unix.CloseRange(controlFD, math.MaxUint32, unix.CLOSE_RANGE_CLOEXEC); err != nil {
		return 1
	}
	reports := json.NewEncoder(os.NewFile(reportFD, "report"))
	control := bufio.NewReader(os.NewFile(controlFD, "control"))
	g := &guard{level: level}
	signals := make(chan os.Signal, 8)
	signal.Notify(signals, syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP)
	stage, err := g.start(control)
	if err != nil {
		var errno syscall.Errno
		errors.As(err, &errno)
		_ = reports.Encode(report{Stage: stage, Detail: err.Error(), Errno: errno})
	} else {
		err = reports.Encode(report{Started: true}) // fails where the starter is gone
	}
	if err != nil {
		g.kill()
		g.reapRest()
		return 1
	}
	go func() {
		for range signals { // an outsider's signal is meant for the server
			g.terminate()
		}
	}()
	go g.obey(control)
	exit := g.reap()
	_ = reports.Encode(report{Exit: &exit})
	if !g.terminating.Load() {
		g.kill()
	}
	g.reapRest()
	return 0
}

// guard is the intermediate's view of the tree.
type guard struct {
	level string
	pid   int // of the command
	// terminating is set by the order to terminate. From then on the end of the
	// command is not the end of the tree: behind a wrapper that died of the
	// signal at once, the server still gets its time to finish.
	terminating atomic.Bool
	sweeping    sync.Once
}

// start reads the order, sets the containment up and starts the command.
func (g *guard) start(control *bufio.Reader) (stage string, err error) {
	line, err := control.ReadBytes('\n')
	if err != nil {
		return stageContain, fmt.Errorf("read order: %w", err)
	}
	var o order
	if err := json.Unmarshal(line, &o); err != nil {
		return stageContain, fmt.Errorf("read order: %w", err)
	}
	if err := g.enclose(); err != nil {
		return stageContain, err
	}
	attr := &os.ProcAttr{
		Dir:   string(o.Dir),
		Env:   toStrings(o.Env),
		Files: []*os.File{os.Stdin, os.Stdout, os.Stderr},
		Sys:   &syscall.SysProcAttr{Setpgid: true},
	}
	if g.level == ProcessGroup {
		attr.Sys.Pdeathsig = syscall.SIGKILL // this thread is locked and lives as long as we do
	}
	null, err := unix.Open("/dev/null", unix.O_RDWR|unix.O_CLOEXEC, 0)
	if err != nil {
		return stageContain, fmt.Errorf("open /dev/null: %w", err)
	}
	p, err := os.StartProcess(string(o.Path), o.argv(), attr)
	if err != nil {
		return stageStart, err
	}
	g.pid = p.Pid
	return "", letGoOfStdio(null)
}

// letGoOfStdio closes the server's pipes in this process: as long as it held
// them, the server's end of file would never be seen.
func letGoOfStdio(null int) error {
	for fd := range 3 {
		if err := unix.Dup3(null, fd, unix.O_CLOEXEC); err != nil {
			return fmt.Errorf("replace descriptor %d: %w", fd, err)
		}
	}
	return unix.Close(null)
}

// obey carries out the orders of the starter and ends the tree at end-of-file.
func (g *guard) obey(control *bufio.Reader) {
	for {
		word, err := control.ReadString('\n')
		switch {
		case err != nil && !errors.Is(err, io.EOF), word == "", word == wordKill+"\n":
			g.kill()
			return
		case word == wordTerm+"\n":
			g.terminate()
		}
	}
}

func (g *guard) terminate() {
	g.terminating.Store(true)
	g.signalAll(syscall.SIGTERM)
}

// reap waits for every child, adopted ones too, until the command has ended.
func (g *guard) reap() Exit {
	for {
		var status syscall.WaitStatus
		pid, err := syscall.Wait4(-1, &status, 0, nil)
		switch {
		case errors.Is(err, syscall.EINTR):
			continue
		case err != nil: // cannot be: the command is a child until it is reaped
			return Exit{Code: -1}
		case pid != g.pid:
			continue
		case status.Signaled():
			return Exit{Signal: status.Signal()}
		}
		return Exit{Code: status.ExitStatus()}
	}
}

// reapRest waits until no child is left, and with that nobody of the tree: what a
// dead process leaves is a child of this one before that process can be reaped.
// The starter bounds it by [wordKill], and [guard.kill] bounds itself.
func (g *guard) reapRest() {
	for {
		if _, err := syscall.Wait4(-1, nil, 0, nil); err != nil && !errors.Is(err, syscall.EINTR) {
			return
		}
	}
}
