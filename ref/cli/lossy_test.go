package cli

import (
	"bytes"
	"io"
	"os"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"golang.org/x/sys/unix"
)

// A reader that has stopped is waited for once; what it misses is counted, and
// nothing comes twice or torn.
func TestLossy(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, w := io.Pipe()
		l := &lossy{out: w}
		for _, line := range []string{"first\n", "second\n", "third\n"} {
			if n, err := l.Write([]byte(line)); n != len(line) || err != nil {
				t.Errorf("write: %d, %v", n, err)
			}
		}
		got := make(chan string)
		go func() {
			text, _ := io.ReadAll(r)
			got <- string(text)
		}()
		synctest.Wait()
		_, _ = l.Write([]byte("fourth\n"))
		_, _ = l.Write([]byte("fifth\n"))
		_ = w.Close()
		if text, want := <-got, "first\nrefbridge: 2 messages were lost here, since nobody read them\nfourth\nfifth\n"; text != want {
			t.Errorf("%q, want %q", text, want)
		}
	})
}

// A reader that takes a line now and then does not hold each of them up.
func TestLossySlowReader(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, w := io.Pipe()
		l := &lossy{out: w}
		begun := time.Now()
		for range 200 {
			_, _ = l.Write([]byte("line\n"))
			if _, err := r.Read(make([]byte, 1<<10)); err != nil {
				t.Fatal(err)
			}
			synctest.Wait()
		}
		if took := time.Since(begun); took > 3*patience {
			t.Errorf("200 lines took %v", took)
		}
		_ = w.Close()
	})
}

// LIF-011: a stderr that nobody reads holds neither the bridge nor the agent, and
// is the agent's as it was: blocking.
func TestStderrThatIsNotRead(t *testing.T) {
	needNamespaces(t)
	for name, c := range map[string]struct {
		spec string
		code int
		out  string
	}{
		"phase":  {`{"agent": {"path": "/bin/sh", "args": ["-c", "echo ran; exit 3"]}}`, 3, "ran\n"},
		"broken": {`{"agent": {}}`, 125, ""},
	} {
		t.Run(name, func(t *testing.T) {
			r, w, err := os.Pipe()
			if err != nil {
				t.Fatal(err)
			}
			defer r.Close()
			fill(t, w)
			fd := int(w.Fd()) // it blocks again from here on
			cmd := program(t, "run", "--spec", "s.json")
			write(t, cmd, "s.json", c.spec)
			var out bytes.Buffer
			cmd.Stdout, cmd.Stderr = &out, w
			_ = cmd.Run() // the code is looked at
			if code := cmd.ProcessState.ExitCode(); code != c.code || out.String() != c.out {
				t.Errorf("exit %d, stdout %q; want %d and %q", code, out.String(), c.code, c.out)
			}
			flags, err := unix.FcntlInt(uintptr(fd), unix.F_GETFL, 0)
			if err != nil || flags&syscall.O_NONBLOCK != 0 {
				t.Errorf("the descriptor does not block: flags %#x, %v", flags, err)
			}
			_ = w.Close()
			text, err := io.ReadAll(r)
			if err != nil || strings.Trim(string(text), "x\n") != "" {
				t.Errorf("stderr ends with %q, %v", text[max(0, len(text)-200):], err)
			}
		})
	}
}
