package mcpserver_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"bridgecheck/ref/mcpserver"
	"bridgecheck/ref/mcpserver/contain"
)

// stuckMain is a program two of whose servers cannot be ended: somebody who
// traces a process keeps it from its parent until he lets go (ptrace(2)).
func stuckMain() {
	m := mcpserver.New(mcpserver.Options{Dir: os.Getenv("DIR")})
	in := bufio.NewReader(os.Stdin)
	for _, name := range []string{"a", "b", "good"} {
		grace := 50 * time.Millisecond
		if name == "good" {
			fmt.Println("trace them")
			_, _ = in.ReadString('\n')
			grace = 0 // the default
		}
		cfg := mcpserver.Config{
			Command: "/proc/self/exe", Containment: contain.ProcessGroup, StopGrace: grace,
			Env: map[string]string{"FAKE": "fake", "MARKER": os.Getenv("MARKER")},
		}
		if _, err := m.Start(context.Background(), name, cfg); err != nil {
			fmt.Println(err)
			syscall.Exit(1)
		}
	}
	err := m.StopAll()
	fmt.Printf("%s\nagain: %v\ngood ended by %s\n", err, m.StopAll(), m.StopHow("good"))
	syscall.Exit(0)
}

// LIF-006: StopAll goes on after a failure and reports every one.
func TestStopAllGoesOnAfterFailures(t *testing.T) {
	t.Parallel()
	mark := marker(t)
	c := exec.Command("/proc/self/exe")
	c.Env = append(os.Environ(), "FAKE=stuck", "MARKER="+mark, "DIR="+privateDir(t))
	in, err := c.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := c.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(out)
	if !lines.Scan() || lines.Text() != "trace them" {
		t.Fatalf("the servers did not start: %q", lines.Text())
	}
	pids := childrenOf(t, c.Process.Pid)
	letGo := make(chan struct{})
	traced := make(chan error)
	go func() {
		runtime.LockOSThread() // not unlocked: the thread ends, and lets go of what it traces
		traced <- seize(pids)
		<-letGo
	}()
	err = <-traced
	fmt.Fprintln(in)
	var text strings.Builder
	for lines.Scan() {
		text.WriteString(lines.Text() + "\n")
	}
	close(letGo)
	_ = c.Wait()
	eventually(t, func() bool { return environs(mark) == 0 })
	if err != nil {
		t.Skip("processes cannot be traced here:", err)
	}
	for _, want := range []string{`stop server "a": `, `stop server "b": `, "still there", "again: <nil>", "good ended by eof"} {
		if !strings.Contains(text.String(), want) {
			t.Errorf("%q is not in\n%s", want, text.String())
		}
	}
	if strings.Contains(text.String(), `"good"`) {
		t.Errorf("an error of the server that ended:\n%s", text.String())
	}
}

// seize traces processes without stopping them.
func seize(pids []int) error {
	if len(pids) == 0 {
		return errors.New("none is there")
	}
	for _, pid := range pids {
		if err := unix.PtraceSeize(pid); err != nil {
			return err
		}
	}
	return nil
}
