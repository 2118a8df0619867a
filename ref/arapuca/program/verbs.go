package program

import (
	"bufio"
	"fmt"
	"os"
	"os/signal"
	"runtime"
	"strings"
	"syscall"
	"time"
	"unsafe"

	"github.com/LeGambiArt/go-arapuca/behaviour"
	"golang.org/x/net/bpf"
	"golang.org/x/sys/unix"

	"bridgecheck/ref/sandbox"
	"bridgecheck/ref/sandbox/seccomp"
)

// launchCommand is what the library starts. The last descriptor is its end of a
// socket pair: one line says ok or what went wrong, and its end ends everything.
func launchCommand(o *options) int {
	library := os.NewFile(uintptr(3+o.fds), "library")
	unix.CloseOnExec(3 + o.fds)
	if o.bare() {
		fmt.Fprintln(library, "ok")
		return bare(o)
	}
	signals := forwarded()
	l, err := launch(o)
	if err != nil {
		fmt.Fprintln(library, strings.ReplaceAll(err.Error(), "\n", " "))
		return failure
	}
	go func() {
		_, _ = bufio.NewReader(library).ReadByte() // it never says anything
		_ = l.box.Kill()                           // it may have ended
	}()
	fmt.Fprintln(library, "ok")
	return l.wait(signals)
}

// runCommand is what people start.
func runCommand(o *options) int {
	signals := forwarded()
	dir, err := os.MkdirTemp("", "arapuca-run-")
	if err != nil {
		return fail(err)
	}
	o.tmp = dir
	defer os.RemoveAll(dir)
	for _, kv := range o.env {
		if name, _, _ := strings.Cut(kv, "="); behaviour.Has(behaviour.EnvDropped) && dropped(name) {
			return fail(fmt.Errorf("--env %s: this variable cannot be set", name))
		}
	}
	l, err := launch(o)
	if err != nil {
		return fail(err)
	}
	if o.timeout > 0 {
		defer time.AfterFunc(o.timeout, func() { _ = l.box.Signal(syscall.SIGTERM) }).Stop()
		defer time.AfterFunc(o.timeout+5*time.Second, func() { _ = l.box.Kill() }).Stop()
	}
	exit := l.end(signals)
	if exit.Signal != 0 {
		return 128 + int(exit.Signal)
	}
	return exit.Code
}

// forwarded are signals for the command.
func forwarded() chan os.Signal {
	signals := make(chan os.Signal, 16)
	signal.Notify(signals, unix.SIGTERM, unix.SIGINT, unix.SIGHUP, unix.SIGQUIT, unix.SIGUSR1, unix.SIGUSR2, unix.SIGALRM, unix.SIGWINCH, unix.SIGCONT, unix.SIGTSTP)
	return signals
}

// end waits for the command and clears up.
func (l *launched) end(signals chan os.Signal) sandbox.Exit {
	go func() {
		for s := range signals {
			_ = l.box.Signal(s.(syscall.Signal)) // it may have ended
		}
	}()
	exit, err := l.box.Wait()
	l.close()
	if err != nil && exit.Signal == 0 {
		exit.Signal = unix.SIGKILL
	}
	return exit
}

// wait ends this process as the command has ended.
func (l *launched) wait(signals chan os.Signal) int {
	exit := l.end(signals)
	if exit.Signal == 0 {
		return exit.Code
	}
	die(exit.Signal)
	return 128 + int(exit.Signal)
}

// die ends this process by a signal, whatever the Go runtime does with it.
func die(s syscall.Signal) {
	signal.Reset()
	_ = unix.Setrlimit(unix.RLIMIT_CORE, &unix.Rlimit{}) // no core is wanted
	var byDefault [64]byte
	_, _, _ = unix.RawSyscall6(unix.SYS_RT_SIGACTION, uintptr(s), uintptr(unsafe.Pointer(&byDefault)), 0, 8, 0, 0)
	_ = unix.Kill(unix.Getpid(), s)
	time.Sleep(time.Second) // it is on its way
}

// bare tells whether lo is to stay down: then the command runs as `unshare` would
// run it, in new namespaces in which nothing is set up.
func (o *options) bare() bool {
	return behaviour.Has(behaviour.LoopbackDown) && o.netns && o.socket == "" && len(o.rules) == 0
}

func bare(o *options) int {
	p, err := os.StartProcess(o.command[0], o.command, &os.ProcAttr{
		Env: environment(o), Files: []*os.File{os.Stdin, os.Stdout, os.Stderr},
		Sys: &syscall.SysProcAttr{
			Pdeathsig: syscall.SIGKILL, Cloneflags: syscall.CLONE_NEWUSER | syscall.CLONE_NEWNET,
			UidMappings: []syscall.SysProcIDMap{{HostID: os.Geteuid(), Size: 1}},
			GidMappings: []syscall.SysProcIDMap{{HostID: os.Getegid(), Size: 1}},
		},
	})
	if err != nil {
		return 1
	}
	state, err := p.Wait()
	if err != nil {
		return failure
	}
	return state.ExitCode()
}

// stepStrict is the step between the sandbox and its command.
const stepStrict = "arapuca-strict"

// strict refuses INET sockets to itself and becomes the command.
func strict(command []string) error {
	runtime.LockOSThread()
	raw, err := bpf.Assemble([]bpf.Instruction{
		bpf.LoadAbsolute{Off: 0, Size: 4},
		bpf.JumpIf{Cond: bpf.JumpNotEqual, Val: unix.SYS_SOCKET, SkipTrue: 3},
		bpf.LoadAbsolute{Off: 16, Size: 4},
		bpf.JumpIf{Cond: bpf.JumpEqual, Val: unix.AF_INET, SkipTrue: 2},
		bpf.JumpIf{Cond: bpf.JumpEqual, Val: unix.AF_INET6, SkipTrue: 1},
		bpf.RetConstant{Val: unix.SECCOMP_RET_ALLOW},
		bpf.RetConstant{Val: unix.SECCOMP_RET_ERRNO | uint32(unix.EPERM)},
	})
	if err != nil {
		return err
	}
	if err := seccomp.Install(raw); err != nil {
		return err
	}
	return unix.Exec(command[0], command, os.Environ())
}

// linger is the proxy that outlives its sandbox, for as long as a check may look.
func linger() { time.Sleep(30 * time.Second) }
