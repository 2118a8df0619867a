package soak

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// What a subject could leave is seen, and its going as well.
func TestCensus(t *testing.T) {
	if err := warm(); err != nil {
		t.Fatal(err)
	}
	work := t.TempDir()
	before, err := take(work)
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(work, "place-0", tmpFolder)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("sleep", "1000")
	listener, err := net.Listen("unix", filepath.Join(dir, "socket"))
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	now, err := take(work)
	if err != nil {
		t.Fatal(err)
	}
	left := strings.Join(now.beyond(before), "\n")
	process := fmt.Sprintf("process %d: sleep", cmd.Process.Pid)
	for _, want := range []string{process, "socket: unix", "file: " + dir + "/socket", "descriptors of this process"} {
		if !strings.Contains(left, want) {
			t.Errorf("%q is not seen in\n%s", want, left)
		}
	}
	_ = listener.Close()
	_ = cmd.Process.Kill()
	_ = cmd.Wait()
	if now, err = take(work); err != nil {
		t.Fatal(err)
	}
	for _, line := range now.beyond(before) {
		if strings.Contains(line, process) || strings.Contains(line, work) || strings.Contains(line, "descriptors") {
			t.Errorf("%s is seen after it has gone", line)
		}
	}
}

func TestEndsAreTold(t *testing.T) {
	seen := map[string]bool{}
	for _, e := range ends {
		if e.name == "" || seen[e.name] || e.bring == nil {
			t.Errorf("%+v cannot be told from another end", e)
		}
		seen[e.name] = true
	}
}
