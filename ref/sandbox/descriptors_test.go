package sandbox_test

import (
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"bridgecheck/ref/sandbox"
)

func init() {
	roles["launch-fds"] = launchFDs
}

// launchFDs is a launcher that inherited descriptors itself: it declares those
// of its arguments, and the agent prints what it has.
func launchFDs(args []string) int {
	path, err := os.Executable()
	if err != nil {
		return 1
	}
	spec := sandbox.Spec{Path: path, Args: []string{"fds"}, Stdout: os.Stdout, Stderr: os.Stderr, Landlock: true}
	for _, a := range args {
		fd, err := strconv.Atoi(a)
		if err != nil {
			return 2
		}
		spec.Descriptors = append(spec.Descriptors, fd)
	}
	return runHere(spec)
}

// runHere launches and waits, outside of a test.
func runHere(spec sandbox.Spec) int {
	s, err := sandbox.Launch(bare(), spec)
	if err == nil {
		err = s.Start()
	}
	if err != nil {
		fmt.Println("error=", err)
		return 125
	}
	exit, err := s.Wait()
	if err != nil {
		fmt.Println("error=", err)
		return 125
	}
	return exit.Code
}

func TestDescriptors(t *testing.T) {
	needNamespaces(t)
	var planted []*os.File // 3 to 6: file, directory, listening socket, pipe
	add := func(f *os.File, err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { f.Close() })
		planted = append(planted, f)
	}
	add(os.Open("/etc/passwd"))
	add(os.Open("/"))
	sock, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	add(os.NewFile(uintptr(sock), "socket"), err)
	r, _, err := os.Pipe()
	add(r, err)
	for range 40 {
		planted = append(planted, planted[1])
	}
	for _, row := range []struct {
		declared string
		want     string
	}{
		{"", "[0 1 2]"},
		{"3", "[0 1 2 3]"},
		{"4 40", "[0 1 2 4 40]"},
		{"3 4 5 6 7 8", "[0 1 2 3 4 5 6 7 8]"},
	} {
		cmd := exec.Command(self(t), append([]string{"launch-fds"}, strings.Fields(row.declared)...)...)
		cmd.ExtraFiles = planted
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("declared %q: %v: %s", row.declared, err, out)
		}
		if got := facts(string(out))["fds"]; got != row.want {
			t.Errorf("declared %q: the agent has %s, want %s", row.declared, got, row.want)
		}
	}
}

// Descriptors far up, planted in this process without close-on-exec.
func TestDescriptorsFarUp(t *testing.T) {
	needNamespaces(t)
	for _, fd := range []int{900, 1000} {
		if err := unix.Dup3(2, fd, 0); err != nil {
			t.Fatal(err)
		}
		defer unix.Close(fd)
	}
	spec := role(t, "fds")
	spec.Descriptors = []int{1000}
	out, _ := run(t, spec)
	want(t, facts(out), map[string]string{"fds": "[0 1 2 1000]"})
}
