package ref_test

import (
	"context"
	"errors"
	"os"
	"strings"
	"syscall"
	"testing"

	"bridgecheck/ref"
	"bridgecheck/ref/cgroup"
	"bridgecheck/ref/config"
	"bridgecheck/ref/guardian"
)

func needGroups(t *testing.T) {
	t.Helper()
	g, err := guardian.OpenGroup(cgroup.Limits{Memory: 1 << 30, PIDs: 100})
	if errors.Is(err, cgroup.ErrNotDelegated) {
		t.Skip(err)
	}
	if err == nil {
		err = g.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
}

// LIF-010: an agent that the kernel ends for want of memory is told from one
// that somebody killed.
func TestOutOfMemory(t *testing.T) {
	t.Parallel()
	needNamespaces(t)
	needGroups(t)
	const limit = 64 << 20
	r := phase(context.Background(), t, config.Spec{
		// Each file fits its file system; both together do not fit the limit.
		Agent:  &config.Agent{Path: "/bin/sh", Args: []string{"-c", "exec tee /tmp/a /dev/shm/b </dev/zero >/dev/null"}},
		Limits: &config.Limits{Memory: limit},
	})
	wantExit(t, r, ref.Exit{Signal: syscall.SIGKILL, Reason: ref.ReasonMemory})
	r = phase(context.Background(), t, config.Spec{
		Agent:  &config.Agent{Path: "/bin/sh", Args: []string{"-c", "kill -9 $$"}},
		Limits: &config.Limits{Memory: limit},
	})
	wantExit(t, r, ref.Exit{Signal: syscall.SIGKILL, Reason: ref.ReasonAgent})
}

// The limit of processes holds whoever asks for it, or the start is refused.
func TestProcessesAreLimited(t *testing.T) {
	t.Parallel()
	needNamespaces(t)
	r := phase(context.Background(), t, config.Spec{
		Policy: "prefer",
		Agent:  &config.Agent{Path: "/bin/sh", Args: []string{"-c", "for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do sleep 1000 & done; echo all"}},
		Limits: &config.Limits{PIDs: 10},
	})
	if e := r.of("error"); len(e) == 1 && e[0].Stage == "limits" && os.Getuid() == 0 {
		wantExit(t, r, failure)
		return // root, without control groups
	}
	if r.exit.Code == 0 || !strings.Contains(strings.ToLower(r.stderr), "fork") {
		t.Errorf("exit %+v, %v, stdout %q, stderr %q", r.exit, r.err, r.out, r.stderr)
	}
	if layers := r.lines()[0].Layers; layers["limits"] != "on" {
		t.Errorf("layers = %v", layers)
	}
}
