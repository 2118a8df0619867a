package sandbox_test

import (
	"errors"
	"os"
	"os/exec"
	"strconv"
	"testing"

	"bridgecheck/ref/sandbox"
)

func init() {
	roles["use"] = use
}

// use takes what its arguments say until it is refused, and prints how far it
// came.
func use(args []string) int {
	switch args[0] {
	case "memory":
		const step = 16 << 20
		for got := 0; got < 4<<30; got += step {
			fact("memory", got)
			b := make([]byte, step)
			for i := 0; i < step; i += 4096 {
				b[i] = 1
			}
			kept = append(kept, b)
		}
	case "files":
		n := 0
		for ; n < 5000; n++ {
			if _, err := os.Open("/dev/null"); err != nil {
				fact("error", errno(err))
				break
			}
		}
		fact("files", n)
	case "pids":
		n := 0
		for ; n < 200; n++ {
			if err := exec.Command("/bin/sleep", "100").Start(); err != nil {
				fact("error", errno(err))
				break
			}
		}
		fact("pids", n)
	}
	return 0
}

var kept [][]byte

func TestLimits(t *testing.T) {
	needNamespaces(t)
	spec := role(t, "use", "memory")
	spec.Limits.Memory = 512 << 20
	out, exit := run(t, spec)
	if exit == (sandbox.Exit{}) {
		t.Errorf("memory: 4 GiB could be taken under a limit of 512 MiB: %s", out)
	}
	spec = role(t, "use", "files")
	spec.Limits.Files = 64
	out, _ = run(t, spec)
	want(t, facts(out), map[string]string{"error": "EMFILE"})
	if n, _ := strconv.Atoi(facts(out)["files"]); n < 40 || n > 64 {
		t.Errorf("files: %d could be opened, want a little under 64", n)
	}
}

func TestLimitOfProcesses(t *testing.T) {
	needNamespaces(t)
	spec := role(t, "use", "pids")
	spec.Limits.PIDs = 40
	if os.Getuid() == 0 {
		_, err := sandbox.Launch(context20(t), spec)
		var failure *sandbox.Failure
		if !errors.As(err, &failure) || failure.Stage != sandbox.StageLimits || len(failure.Causes) == 0 {
			t.Errorf("got %v, want a failure at limits with a cause: root is exempt", err)
		}
		return
	}
	out, _ := run(t, spec)
	if n, _ := strconv.Atoi(facts(out)["pids"]); n < 10 || n > 40 {
		t.Errorf("%d processes could be started under a limit of 40 processes and threads: %s", n, out)
	}
}

// The codes of a shell stay with the step between.
func TestLimitsExit(t *testing.T) {
	needNamespaces(t)
	for path, code := range map[string]int{"/no/such/program": 127, "/usr": 126, "/bin/true": 0} {
		spec := sandbox.Spec{Path: path, Landlock: true, Limits: sandbox.Limits{Files: 128}}
		if _, got := run(t, spec); got != (sandbox.Exit{Code: code}) {
			t.Errorf("%s: got %+v, want code %d", path, got, code)
		}
	}
}
