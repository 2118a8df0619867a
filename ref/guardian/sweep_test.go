package guardian_test

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"bridgecheck/ref/guardian"
)

// abandoned is the directory of a bridge that was killed with its guardian.
func abandoned(t *testing.T, base string) string {
	t.Helper()
	cmd := exec.Command("/proc/self/exe", base)
	cmd.Args[0] = holder
	out, err := cmd.StdoutPipe()
	must(t, err, cmd.Start())
	line, err := bufio.NewReader(out).ReadString('\n')
	must(t, err)
	killGuardians(t, cmd.Process.Pid)
	must(t, cmd.Process.Kill())
	_ = cmd.Wait()
	return strings.TrimSpace(line)
}

// killGuardians ends the children of a process, which it will have to wait for.
func killGuardians(t *testing.T, parent int) {
	t.Helper()
	tasks, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", parent))
	must(t, err)
	killed := 0
	for _, file := range tasks {
		text, err := os.ReadFile(file)
		must(t, err)
		for word := range strings.FieldsSeq(string(text)) {
			pid, err := strconv.Atoi(word)
			if name, _ := os.ReadFile("/proc/" + word + "/cmdline"); err != nil || !strings.HasPrefix(string(name), guardian.Role) {
				continue
			}
			fd, err := unix.PidfdOpen(pid, 0)
			must(t, err, unix.Kill(pid, unix.SIGKILL))
			for { // until it has gone, and its lock with it
				if _, err := unix.Poll([]unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}, -1); !errors.Is(err, unix.EINTR) {
					break
				}
			}
			must(t, unix.Close(fd))
			killed++
		}
	}
	if killed == 0 {
		t.Fatal("there is no guardian to kill")
	}
}

// What a bridge has left that was killed together with its guardian goes with
// the next one; what anybody holds, or no bridge has made, stays.
func TestSweep(t *testing.T) {
	base := t.TempDir()
	left := abandoned(t, base)
	if _, err := os.Stat(filepath.Join(left, "socket")); err != nil {
		t.Fatal("nothing was left, and nothing can be swept: ", err)
	}
	alive, err := guardian.Open(base) // sweeps
	must(t, err)
	if _, err := os.Lstat(alive.Path); err != nil {
		t.Fatal(err)
	}
	must(t, alive.Close())
	empty(t, base)
}

func TestSweepTakesNothingElse(t *testing.T) {
	base := t.TempDir()
	kept := []string{"bridge-unmarked", "bridge-open", "other-name", "bridge-link", "bridge-file", "bridge-marked-by-directory"}
	at := func(parts ...string) string { return filepath.Join(append([]string{base}, parts...)...) }
	for _, name := range kept[:3] {
		must(t, os.Mkdir(at(name), 0o700))
	}
	must(t,
		os.WriteFile(at("bridge-open", ".bridge"), nil, 0o600), os.Chmod(at("bridge-open"), 0o755),
		os.WriteFile(at("other-name", ".bridge"), nil, 0o600),
		os.Symlink(at("other-name"), at("bridge-link")),
		os.WriteFile(at("bridge-file"), nil, 0o600),
		os.MkdirAll(at("bridge-marked-by-directory", ".bridge"), 0o700))
	orphan, err := guardian.Open(base)
	must(t, err)
	killGuardians(t, os.Getpid()) // the bridge still holds it
	kept = append(kept, filepath.Base(orphan.Path))

	next, err := guardian.Open(base)
	must(t, err, next.Close())
	for _, name := range kept {
		if _, err := os.Lstat(at(name)); err != nil {
			t.Errorf("%s was taken: %v", name, err)
		}
	}
	must(t, orphan.Close())
	if _, err := os.Lstat(orphan.Path); err == nil {
		t.Error("a directory without guardian is left by its bridge")
	}
}
