package sandbox_test

import (
	"bufio"
	"io"
	"os"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"bridgecheck/ref/sandbox"
)

// What is typed reaches the agent, Ctrl-C its foreground job and not itself,
// and the terminal is none of the host's.
func TestTerminal(t *testing.T) {
	for _, level := range []sandbox.Level{sandbox.Isolated, sandbox.SharedUserNS, sandbox.SharedNone} {
		t.Run(string(level), func(t *testing.T) {
			needLevel(t, level)
			spec := atLevel(shell(`trap 'echo caught' INT; test -t 0 && test -t 1 && test -t 2 && : </dev/tty && stty size; read line; echo "got $line"; sh -c 'trap - INT; echo asleep; exec sleep 1000'; exit 5`), level)
			spec.TTY = true
			s := launch(t, spec)
			terminal := s.Terminal()
			defer terminal.Close()
			if err := s.Resize(33, 111); err != nil {
				t.Fatal(err)
			}
			if err := s.Start(); err != nil {
				t.Fatal(err)
			}
			said := bufio.NewReader(terminal)
			var lines []string
			expect := func(want string) {
				t.Helper()
				for ends := 0; ; {
					line, err := said.ReadString('\n')
					// The echo of Ctrl-C comes before what it brings about, after
					// it, or before the end of its line.
					if strings.TrimSpace(strings.ReplaceAll(line, "^C", "")) == want {
						return
					}
					lines = append(lines, line)
					if err == nil {
						continue
					}
					if ends++; ends == 2 { // the first may come early
						t.Fatalf("the terminal ended (%v) before it said %q; else it said %q", err, want, lines)
					}
				}
			}
			expect("33 111")
			if _, err := io.WriteString(terminal, "typed\n"); err != nil {
				t.Fatal(err)
			}
			expect("got typed")
			expect("asleep")
			if _, err := terminal.Write([]byte{3}); err != nil {
				t.Fatal(err)
			}
			expect("caught")
			if exit, err := s.Wait(); err != nil || exit != (sandbox.Exit{Code: 5}) {
				t.Errorf("got %+v, %v, want code 5", exit, err)
			}
		})
	}
}

// Streams that are files stay so beside a terminal, which controls the session
// all the same.
func TestTerminalBesideStreams(t *testing.T) {
	needNamespaces(t)
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	spec := shell(`test -t 0 && test -t 2 && ! test -t 1 && echo written; echo said >/dev/tty`)
	spec.TTY, spec.Stdout = true, w
	spec.Limits.Files = 100
	s := launch(t, spec)
	defer s.Terminal().Close()
	_ = w.Close()
	if err := s.Start(); err != nil {
		t.Fatal(err)
	}
	out, _ := io.ReadAll(r)
	said, _ := io.ReadAll(s.Terminal()) // ends with EIO
	last, _ := io.ReadAll(s.Terminal()) // which may come early
	said = append(said, last...)
	if exit, err := s.Wait(); err != nil || exit != (sandbox.Exit{}) {
		t.Errorf("got %+v, %v", exit, err)
	}
	if string(out) != "written\n" || string(said) != "said\r\n" {
		t.Errorf("stdout %q, terminal %q", out, said)
	}
}

func TestNoTerminal(t *testing.T) {
	needNamespaces(t)
	s := launch(t, shell("exit 0"))
	if s.Terminal() != nil {
		t.Error("a sandbox without a terminal has one")
	}
	if err := s.Resize(1, 1); err == nil {
		t.Error("no terminal could be resized")
	}
}

// A terminal of the host's on stdin is usable, and is not the agent's own: it
// cannot type into it.
func TestHostTerminal(t *testing.T) {
	needNamespaces(t)
	inner := launch(t, sandboxWithTerminal(t)) // only to have a terminal that is not ours
	defer inner.Terminal().Close()
	slave, _, errno := unix.Syscall(unix.SYS_IOCTL, inner.Terminal().Fd(), unix.TIOCGPTPEER, unix.O_RDWR|unix.O_NOCTTY)
	if errno != 0 {
		t.Fatal(errno)
	}
	stdin := os.NewFile(slave, "stdin")
	defer stdin.Close()
	spec := role(t, "calls")
	spec.Stdin = stdin
	out, _ := run(t, spec)
	want(t, facts(out), map[string]string{"tiocsti": "EPERM", "tiocsti-high": "EPERM"})
	spec = role(t, "status")
	spec.Stdin = stdin
	out, _ = run(t, spec)
	want(t, facts(out), map[string]string{"tty": "ENXIO", "sid": "true"})
}

func sandboxWithTerminal(t *testing.T) sandbox.Spec {
	spec := role(t, "status")
	spec.TTY = true
	return spec
}
