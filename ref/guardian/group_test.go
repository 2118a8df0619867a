package guardian_test

import (
	"bufio"
	"errors"
	"os"
	"os/exec"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"bridgecheck/ref/cgroup"
	"bridgecheck/ref/guardian"
)

// A group outlives neither its closing, nor its bridge, nor its guardian.
func TestGroup(t *testing.T) {
	g, err := guardian.OpenGroup(cgroup.Limits{PIDs: 10, Memory: 1 << 30})
	if errors.Is(err, cgroup.ErrNotDelegated) {
		t.Skip(err)
	}
	must(t, err)
	there(t, g.Dirs, true)
	must(t, g.Close())
	there(t, g.Dirs, false)

	g, err = guardian.OpenGroup(cgroup.Limits{PIDs: 10})
	must(t, err)
	killGuardians(t, os.Getpid())
	must(t, g.Close())
	there(t, g.Dirs, false)
}

func TestGroupOfAKilledBridge(t *testing.T) {
	if err := unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); err != nil {
		t.Skip("cannot become a subreaper:", err)
	}
	t.Cleanup(func() { _ = unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 0, 0, 0, 0) })
	cmd := exec.Command("/proc/self/exe", grouper)
	cmd.Args[0] = holder
	out, err := cmd.StdoutPipe()
	must(t, err, cmd.Start())
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		_ = cmd.Wait()
		t.Skip("this user may make no control group")
	}
	dirs := strings.Split(strings.TrimSpace(line), "\t")
	there(t, dirs, true)
	must(t, cmd.Process.Kill())
	_ = cmd.Wait()
	if _, err := unix.Wait4(-1, nil, 0, nil); err != nil { // its guardian
		t.Fatal(err)
	}
	there(t, dirs, false)
}

func there(t *testing.T, dirs []string, want bool) {
	t.Helper()
	for _, dir := range dirs {
		if _, err := os.Lstat(dir); (err == nil) != want {
			t.Errorf("%s is there: %v, want %v", dir, err == nil, want)
		}
	}
}
