package cli

import (
	"bufio"
	"io"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// sitting is a person at a terminal, with the program in its foreground.
type sitting struct {
	t      *testing.T
	cmd    *exec.Cmd
	master *os.File
	lines  *bufio.Reader
}

func sit(t *testing.T, command string) *sitting {
	t.Helper()
	needNamespaces(t)
	fd, err := unix.Open("/dev/ptmx", unix.O_RDWR|unix.O_NOCTTY|unix.O_CLOEXEC|unix.O_NONBLOCK, 0)
	if err != nil {
		t.Skip("this host makes no terminal: ", err)
	}
	master := os.NewFile(uintptr(fd), "master")
	t.Cleanup(func() { _ = master.Close() })
	if err := unix.IoctlSetPointerInt(fd, unix.TIOCSPTLCK, 0); err != nil {
		t.Fatal(err)
	}
	slave, _, errno := unix.Syscall(unix.SYS_IOCTL, uintptr(fd), unix.TIOCGPTPEER, unix.O_RDWR|unix.O_NOCTTY|unix.O_CLOEXEC)
	if errno != 0 {
		t.Fatal(errno)
	}
	terminal := os.NewFile(slave, "terminal")
	defer terminal.Close()
	s := &sitting{t: t, master: master, lines: bufio.NewReader(master)}
	s.size(33, 111)
	s.cmd = program(t, "run", "-c", "soda.yaml", "--", "sh", "-c", command)
	write(t, s.cmd, "soda.yaml", "allow: []\n")
	s.cmd.Stdin, s.cmd.Stdout, s.cmd.Stderr = terminal, terminal, terminal
	s.cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	if err := s.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.cmd.Process.Kill(); _ = s.cmd.Wait() })
	return s
}

func (s *sitting) control(f func(fd int) error) {
	s.t.Helper()
	conn, err := s.master.SyscallConn()
	if err != nil {
		s.t.Fatal(err)
	}
	if e := conn.Control(func(fd uintptr) { err = f(int(fd)) }); e != nil || err != nil {
		s.t.Fatal(e, err)
	}
}

func (s *sitting) size(rows, columns uint16) {
	s.t.Helper()
	s.control(func(fd int) error {
		return unix.IoctlSetWinsize(fd, unix.TIOCSWINSZ, &unix.Winsize{Row: rows, Col: columns})
	})
}

// mode is that of the terminal; a master tells the other end's.
func (s *sitting) mode() (mode unix.Termios) {
	s.t.Helper()
	s.control(func(fd int) error {
		m, err := unix.IoctlGetTermios(fd, unix.TCGETS)
		if err == nil {
			mode = *m
		}
		return err
	})
	return mode
}

// sees waits for a line that ends so.
func (s *sitting) sees(want string) {
	s.t.Helper()
	_ = s.master.SetReadDeadline(time.Now().Add(20 * time.Second))
	for ends := 0; ; {
		line, err := s.lines.ReadString('\n')
		if strings.HasSuffix(strings.TrimRight(line, "\r\n"), want) {
			return
		}
		if err == nil {
			continue
		}
		if ends++; ends == 2 { // the first may come before the last is read
			s.t.Fatalf("the terminal says %v and not %q", err, want)
		}
	}
}

func (s *sitting) types(text string) {
	s.t.Helper()
	if _, err := io.WriteString(s.master, text); err != nil {
		s.t.Fatal(err)
	}
}

// A person works with the agent as if there were nothing between: size, keys,
// Ctrl-C. Afterwards the terminal is as it was.
func TestPersonAtTerminal(t *testing.T) {
	s := sit(t, `trap 'echo caught' INT; trap 'stty size' WINCH; tty; test -t 0 && test -t 1 && test -t 2 && stty size
		read line; echo "got $line"
		until read line; do :; done # a trap ends the reading
		echo "and $line"
		sh -c 'trap - INT; echo asleep; exec sleep 1000'
		exit 5`)
	before := s.mode()
	s.sees("/dev/pts/0") // of the sandbox's own devpts
	s.sees("33 111")
	if s.mode() == before {
		t.Error("the terminal is not raw: it would handle Ctrl-C itself")
	}
	s.types("typed\r")
	s.sees("got typed")
	s.size(44, 99)
	s.sees("44 99")
	s.types("more\r")
	s.sees("and more")
	s.sees("asleep")
	s.types("\x03")
	s.sees("caught")
	_ = s.cmd.Wait()
	if code := s.cmd.ProcessState.ExitCode(); code != 5 {
		t.Errorf("exit %d, want the agent's 5", code)
	}
	if after := s.mode(); after != before {
		t.Errorf("the mode is %+v, and was %+v", after, before)
	}
}

// However it ends, the terminal is as it was.
func TestTerminalIsGivenBack(t *testing.T) {
	for name, end := range map[string]func(*sitting){
		"SIGTERM": func(s *sitting) { _ = s.cmd.Process.Signal(syscall.SIGTERM) },
		"SIGKILL": func(s *sitting) { _ = s.cmd.Process.Kill() },
		"SIGQUIT": func(s *sitting) { _ = s.cmd.Process.Signal(syscall.SIGQUIT) },
	} {
		t.Run(name, func(t *testing.T) {
			s := sit(t, "echo here; exec sleep 1000")
			s.sees("here")
			raw := s.mode()
			end(s)
			go func() { _, _ = io.Copy(io.Discard, s.lines) }() // a crash says more than fits
			_ = s.cmd.Wait()
			const patience = 10 * time.Second
			deadline := time.Now().Add(patience)
			for s.mode() == raw && time.Now().Before(deadline) {
				time.Sleep(time.Millisecond) // the guardian is nobody's child here
			}
			if mode := s.mode(); mode.Lflag&(unix.ECHO|unix.ICANON|unix.ISIG) != unix.ECHO|unix.ICANON|unix.ISIG {
				t.Errorf("the mode is %+v", mode)
			}
		})
	}
}
