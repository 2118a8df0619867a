package escape

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"bridgecheck/fakes/attempt"
	"bridgecheck/suites/catalog"
	"bridgecheck/suites/kit"
	"bridgecheck/suites/subject"
)

var _ = kit.Table(catalog.Case{
	ID:     "ESC-014",
	Title:  "does not hold the terminal of whoever started it",
	Must:   "The host's terminal MUST never be the agent's controlling terminal; TIOCSTI and TIOCLINUX MUST be refused where the kernel still has them.",
	Level:  catalog.Security,
	Clause: "11.14",
	Needs:  []subject.Capability{subject.PIDNS},
	Host:   []catalog.HostFact{catalog.HostUserNS},
	Faults: []string{"terminal-kept", "private-terminal-is-the-hosts", "terminal-typed-into", "typing-unfiltered"},
	Why:    "Who can type into the terminal of a shell runs commands outside as its user.",
}, []kit.Row[func(context.Context, *kit.T)]{
	{Name: "controlling", Value: func(ctx context.Context, t *kit.T) { controlling(ctx, t, &subject.Agent{}) }},
	{Name: "private", Value: func(ctx context.Context, t *kit.T) {
		t.Require(subject.TTY)
		controlling(ctx, t, &subject.Agent{TTY: true})
	}},
	{Name: "typing", Value: typing},
	{Name: "tiocsti", Value: func(ctx context.Context, t *kit.T) { filtered(ctx, t, unix.TIOCSTI) }},
	{Name: "tioclinux", Value: func(ctx context.Context, t *kit.T) { filtered(ctx, t, unix.TIOCLINUX) }},
}, func(ctx context.Context, t *kit.T, body func(context.Context, *kit.T)) { body(ctx, t) })

// controlling writes to the controlling terminal, whichever that is: a private
// one may be, and then nothing of it comes to the host's.
func controlling(ctx context.Context, t *kit.T, a *subject.Agent) {
	write := attempt.Attempt{Op: attempt.OpWrite, Args: []string{"terminal"}, Data: []byte("planted")}
	theirs := newTerminal(t)
	t.Control("a program outside writes to its terminal", t.OnTerminal(ctx, theirs.slave).Do(ctx, write), kit.Succeed())
	t.Control("what comes to that terminal", theirs.heard(t), kit.Contain("planted"))

	host := newTerminal(t)
	agent := t.Start(ctx, subject.Spec{Agent: a}, kit.OnTerminal(host.slave)).Agent
	got := agent.Do(ctx, write)
	if a.TTY {
		t.Control("the agent writes to its own", got, kit.Succeed())
	}
	t.Attempt("times it comes to the host's terminal from the sandbox", strings.Count(host.heard(t), "planted"), kit.BeNone())
}

// typing puts a character into the input of the host's terminal.
func typing(ctx context.Context, t *kit.T) {
	theirs := newTerminal(t)
	const itsTerminal = 3
	control := t.OnTerminal(ctx, theirs.slave).Do(ctx, attempt.Attempt{Op: attempt.OpCall, Call: "ioctl", Words: []uint64{itsTerminal, unix.TIOCSTI}})
	if control.Errno == "EIO" || control.Errno == "ENOTTY" {
		t.Moot("this kernel lets nobody type into a terminal (dev.tty.legacy_tiocsti)")
	}
	t.Control("a program types into its terminal outside", control, kit.Succeed())
	t.Control("characters that it typed", theirs.typed(t), kit.Be(1))

	host := newTerminal(t)
	agent := t.Start(ctx, subject.Spec{}, kit.OnTerminal(host.slave)).Agent
	// Its standard error is the terminal; that may be written to.
	got := agent.Do(ctx, attempt.Attempt{Op: attempt.OpCall, Call: "ioctl", Words: []uint64{uint64(unix.Stderr), unix.TIOCSTI}})
	t.Attempt("the same in the sandbox", got, kit.HaveErrno("EPERM", "EACCES", "ENOTTY", "EIO", "ENOSYS"))
	t.FarSide("characters typed into the host's terminal", host.typed(t), kit.BeNone())
}

// filtered asks the filter alone: the descriptor is no terminal, and outside the
// kernel says so.
func filtered(ctx context.Context, t *kit.T, request uint64) {
	t.Require(subject.Seccomp)
	call := attempt.Attempt{Op: attempt.OpCall, Call: "ioctl", Words: []uint64{uint64(unix.Stdin), request}}
	t.Control("outside the call passes to the kernel", t.Outside(ctx).Do(ctx, call), kit.HaveErrno("ENOTTY"))
	for _, profile := range profiles {
		agent := t.Start(ctx, subject.Spec{Seccomp: profile}).Agent
		t.Attempt("the same in the sandbox, profile "+profile, agent.Do(ctx, call), kit.HaveErrno("EPERM", "EACCES", "ENOSYS"))
	}
}

// terminal is a pseudo-terminal, pty(7), whose master the check holds.
type terminal struct{ master, slave *os.File }

func newTerminal(t *kit.T) terminal {
	master, err := unix.Open("/dev/ptmx", unix.O_RDWR|unix.O_NOCTTY|unix.O_CLOEXEC|unix.O_NONBLOCK, 0)
	if err != nil {
		t.Fatal("make a terminal: %v", err)
	}
	if err := unix.IoctlSetPointerInt(master, unix.TIOCSPTLCK, 0); err != nil {
		t.Fatal("make a terminal: %v", err)
	}
	// By descriptor: the terminal need not have a name in the lab.
	slave, _, errno := unix.Syscall(unix.SYS_IOCTL, uintptr(master), unix.TIOCGPTPEER, unix.O_RDWR|unix.O_NOCTTY|unix.O_CLOEXEC)
	if errno != 0 {
		t.Fatal("make a terminal: %v", errno)
	}
	// Raw: what is typed counts at once, and nothing of it is echoed.
	mode, err := unix.IoctlGetTermios(int(slave), unix.TCGETS)
	if err == nil {
		mode.Lflag &^= unix.ICANON | unix.ECHO | unix.ISIG
		err = unix.IoctlSetTermios(int(slave), unix.TCSETS, mode)
	}
	if err != nil {
		t.Fatal("make a terminal: %v", err)
	}
	made := terminal{os.NewFile(uintptr(master), "master"), os.NewFile(slave, "slave")}
	t.Cleanup(func() { made.master.Close(); made.slave.Close() })
	return made
}

// heard is all that was written to the terminal so far; a last word of our own
// stands behind it.
func (p terminal) heard(t *kit.T) string {
	const last = "heard-all"
	if _, err := fmt.Fprint(p.slave, last); err != nil {
		t.Fatal("write to the terminal: %v", err)
	}
	if err := p.master.SetReadDeadline(time.Now().Add(10 * time.Second)); err != nil {
		t.Fatal("read from the terminal: %v", err)
	}
	var all []byte
	buffer := make([]byte, 4096)
	for !bytes.HasSuffix(all, []byte(last)) {
		n, err := p.master.Read(buffer)
		if err != nil {
			t.Fatal("read from the terminal: %v", err)
		}
		all = append(all, buffer[:n]...)
	}
	return string(bytes.TrimSuffix(all, []byte(last)))
}

// typed is how many characters wait to be read by whoever sits at the terminal.
func (p terminal) typed(t *kit.T) int {
	n, err := unix.IoctlGetInt(int(p.slave.Fd()), unix.TIOCINQ)
	if err != nil {
		t.Fatal("look at the terminal's input: %v", err)
	}
	return n
}
