package guardian_test

import (
	"os"
	"os/exec"
	"testing"

	"golang.org/x/sys/unix"

	"bridgecheck/ref/guardian"
)

// pty is a pseudoterminal as a person has it.
func pty(t *testing.T) (terminal *os.File) {
	t.Helper()
	master, err := unix.Open("/dev/ptmx", unix.O_RDWR|unix.O_NOCTTY|unix.O_CLOEXEC, 0)
	if err != nil {
		t.Skip("this host makes no terminal: ", err)
	}
	t.Cleanup(func() { _ = unix.Close(master) })
	must(t, unix.IoctlSetPointerInt(master, unix.TIOCSPTLCK, 0))
	slave, _, errno := unix.Syscall(unix.SYS_IOCTL, uintptr(master), unix.TIOCGPTPEER, unix.O_RDWR|unix.O_NOCTTY|unix.O_CLOEXEC)
	if errno != 0 {
		t.Fatal(errno)
	}
	terminal = os.NewFile(slave, "terminal")
	t.Cleanup(func() { _ = terminal.Close() })
	return terminal
}

func mode(t *testing.T, terminal *os.File) unix.Termios {
	t.Helper()
	m, err := unix.IoctlGetTermios(int(terminal.Fd()), unix.TCGETS)
	must(t, err)
	return *m
}

func TestRaw(t *testing.T) {
	terminal := pty(t)
	before := mode(t, terminal)
	raw, err := guardian.Raw(terminal)
	must(t, err)
	during := mode(t, terminal)
	if during.Lflag&(unix.ECHO|unix.ICANON|unix.ISIG) != 0 || during.Iflag&(unix.ICRNL|unix.IXON) != 0 || during.Oflag&unix.OPOST != 0 {
		t.Errorf("the mode is %+v", during)
	}
	must(t, raw.Close())
	if after := mode(t, terminal); after != before {
		t.Errorf("the mode is %+v, and was %+v", after, before)
	}
}

// The bridge is killed while a person sits at it.
func TestRawOfAKilledBridge(t *testing.T) {
	if err := unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); err != nil {
		t.Skip("cannot become a subreaper:", err)
	}
	t.Cleanup(func() { _ = unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 0, 0, 0, 0) })
	terminal := pty(t)
	before := mode(t, terminal)
	cmd := exec.Command("/proc/self/exe", sitter)
	cmd.Args[0], cmd.Stdin = holder, terminal
	out, err := cmd.StdoutPipe()
	must(t, err, cmd.Start())
	if _, err := out.Read(make([]byte, 1)); err != nil {
		t.Fatal(err)
	}
	if during := mode(t, terminal); during == before {
		t.Error("the terminal is not raw: the control failed")
	}
	must(t, cmd.Process.Kill())
	_ = cmd.Wait()
	if _, err := unix.Wait4(-1, nil, 0, nil); err != nil { // its guardian
		t.Fatal(err)
	}
	if after := mode(t, terminal); after != before {
		t.Errorf("the mode is %+v, and was %+v", after, before)
	}
}

func TestRawOfNoTerminal(t *testing.T) {
	r, w, err := os.Pipe()
	must(t, err)
	defer r.Close()
	defer w.Close()
	if raw, err := guardian.Raw(r); err == nil {
		t.Error("a pipe was made raw")
		_ = raw.Close()
	}
}
