package sandbox_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"strconv"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"bridgecheck/ref/sandbox"
)

func init() {
	roles["launch-busy"] = launchBusy
	roles["rounds"] = rounds
}

func bare() context.Context { return context.Background() }

// launchBusy holds a sandbox whose agent has left orphans in other sessions.
func launchBusy(args []string) int {
	spec := shell("setsid sleep 1000 & (setsid sh -c 'trap \"\" TERM HUP; sleep 1000' &); echo up; sleep 1000")
	spec.Stdout = os.Stdout
	spec.Level = sandbox.Level(args[0])
	spec.Ports = []uint16{18080}
	if spec.Level == sandbox.SharedNone {
		spec.Cwd = "/"
	}
	return runHere(spec)
}

// rounds kills launchers at random moments. It is a subreaper: whatever a
// launcher leaves becomes its child, and a PID 1 is reaped only when everything
// in its namespace has ended. It prints what was still there after a second.
func rounds(args []string) int {
	if err := unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); err != nil {
		return 1
	}
	n, _ := strconv.Atoi(args[1])
	path, err := os.Executable()
	if err != nil {
		return 1
	}
	running := 0
	var slowest time.Duration
	for i := range n {
		cmd := exec.Command(path, "launch-busy", args[0])
		out, err := cmd.StdoutPipe()
		if err != nil {
			return 1
		}
		if err := cmd.Start(); err != nil {
			return 1
		}
		if i%2 == 0 {
			if line, _ := bufio.NewReader(out).ReadString('\n'); line == "up\n" {
				running++
			}
		}
		time.Sleep(time.Duration(rand.IntN(20_000)) * time.Microsecond)
		_ = unix.Kill(cmd.Process.Pid, unix.SIGKILL)
		killed := time.Now()
		for {
			var ws unix.WaitStatus
			_, err := unix.Wait4(-1, &ws, unix.WNOHANG, nil)
			if errors.Is(err, unix.ECHILD) {
				break
			}
			if time.Since(killed) > 5*time.Second {
				fact("left", i)
				return 1
			}
			time.Sleep(time.Millisecond)
		}
		slowest = max(slowest, time.Since(killed))
		out.Close()
	}
	fact("running", running)
	fact("slowest", slowest)
	return 0
}

func TestLauncherKilled(t *testing.T) {
	needNamespaces(t)
	// Without a PID namespace the end is a sweep of /proc, which takes longer.
	for level, n := range map[sandbox.Level]int{sandbox.Isolated: 40, sandbox.SharedNone: 10} {
		out, err := exec.Command(self(t), "rounds", string(level), fmt.Sprint(n)).CombinedOutput()
		if err != nil {
			t.Fatalf("%s: %v: %s", level, err, out)
		}
		if got := facts(string(out))["running"]; got != fmt.Sprint(n/2) {
			t.Errorf("%s: the agent ran in %s rounds of %d: %s", level, got, n/2, out)
		}
		t.Logf("%s: %s", level, out)
	}
}
