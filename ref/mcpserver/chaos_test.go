package mcpserver_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"bridgecheck/ref/event"
	"bridgecheck/ref/mcpserver"
)

// badServers are those that leave something behind when they can.
var badServers = []string{"children ignore-eof ignore-term", "mute ignore-eof ignore-term", "flood-stderr ignore-eof", "exit-early", "oracle"}

// bridgeMain is a program that manages servers and is killed meanwhile. Its
// events go to stdout.
func bridgeMain() {
	m := mcpserver.New(mcpserver.Options{Dir: os.Getenv("DIR"), Events: event.NewRecorder(os.Stdout)})
	self, err := os.Executable()
	if err != nil {
		syscall.Exit(1)
	}
	var wg sync.WaitGroup
	for n, words := range badServers {
		cfg := mcpserver.Config{
			Command: self, StopGrace: 30 * time.Millisecond, StartTimeout: time.Minute,
			Env:         map[string]string{"FAKE": "fake " + words, "MARKER": os.Getenv("MARKER")},
			Containment: os.Getenv("CONTAINMENT"),
		}
		wg.Go(func() { _, _ = m.Start(context.Background(), fmt.Sprintf("s%d", n), cfg) })
	}
	time.Sleep(150 * time.Millisecond)
	_ = m.StopAll()
	wg.Wait()
	_, _ = fmt.Println("end")
	syscall.Exit(0)
}

// TestSIGKILLOfTheBridgeLeavesNoProcess kills at random times and on each kind
// of event.
func TestSIGKILLOfTheBridgeLeavesNoProcess(t *testing.T) {
	t.Parallel()
	for _, level := range []string{"", "process-group"} {
		for _, on := range []string{"server-started", "server-stopped", "end"} {
			killBridge(t, level, func(line string) bool { return strings.Contains(line, on) }, 0)
		}
		for range 3 {
			killBridge(t, level, nil, time.Duration(rand.IntN(300))*time.Millisecond)
		}
	}
}

func killBridge(t *testing.T, level string, on func(string) bool, after time.Duration) {
	t.Helper()
	mark, dir := marker(t), t.TempDir()
	if err := os.Chmod(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	c := exec.Command("/proc/self/exe")
	c.Env = append(os.Environ(), "FAKE=bridge", "MARKER="+mark, "DIR="+dir, "CONTAINMENT="+level)
	out, err := c.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	c.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	if on == nil {
		time.Sleep(after)
	} else {
		lines := bufio.NewScanner(out)
		for lines.Scan() && !on(lines.Text()) {
		}
	}
	if err := c.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_, _ = io.Copy(io.Discard, out) // until every process that has it as stdout is gone
	_ = c.Wait()
	deadline := time.Now().Add(30 * time.Second)
	for left := holders(t, mark); len(left) > 0 || environs(mark) > 0; left = holders(t, mark) {
		if time.Now().After(deadline) {
			t.Fatalf("level %q, after %s: left %v and %d more", level, after, left, environs(mark))
		}
		time.Sleep(5 * time.Millisecond)
	}
}

// environs counts the processes that have the marker in their environment.
func environs(mark string) (n int) {
	entries, err := os.ReadDir("/proc")
	if err != nil {
		return 1
	}
	for _, e := range entries {
		if env, err := os.ReadFile("/proc/" + e.Name() + "/environ"); err == nil && strings.Contains(string(env), "MARKER="+mark) {
			n++
		}
	}
	return n
}
