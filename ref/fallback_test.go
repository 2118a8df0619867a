package ref_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"unsafe"

	"golang.org/x/net/bpf"
	"golang.org/x/sys/unix"

	"bridgecheck/ref"
	"bridgecheck/ref/config"
	"bridgecheck/ref/event"
)

// limit uses a kind of namespace up, or hides Landlock as an older kernel would.
func limit(knob string) error {
	if knob != "landlock" {
		return os.WriteFile("/proc/sys/user/max_"+knob+"_namespaces", []byte("0"), 0)
	}
	raw, err := bpf.Assemble([]bpf.Instruction{
		bpf.LoadAbsolute{Off: 0, Size: 4},
		bpf.JumpIf{Cond: bpf.JumpEqual, Val: unix.SYS_LANDLOCK_CREATE_RULESET, SkipFalse: 1},
		bpf.RetConstant{Val: unix.SECCOMP_RET_ERRNO | uint32(unix.ENOSYS)},
		bpf.RetConstant{Val: unix.SECCOMP_RET_ALLOW},
	})
	if err != nil {
		return err
	}
	filter := make([]unix.SockFilter, len(raw))
	for i, in := range raw {
		filter[i] = unix.SockFilter{Code: in.Op, Jt: in.Jt, Jf: in.Jf, K: in.K}
	}
	program := unix.SockFprog{Len: uint16(len(filter)), Filter: &filter[0]}
	_, _, errno := syscall.Syscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, unix.SECCOMP_FILTER_FLAG_TSYNC, uintptr(unsafe.Pointer(&program)))
	if errno != 0 {
		return fmt.Errorf("install the filter: %w", errno)
	}
	return nil
}

// fakeLimited runs a phase in a user namespace in which a kind of namespace is
// used up, or Landlock hidden; user.max_* are counted for each user namespace (namespaces(7)).
func fakeLimited(knob, policy string) int {
	if err := limit(knob); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 99
	}
	path, err := os.Executable()
	if err != nil {
		return 99
	}
	exit, _ := ref.Run(context.Background(), config.Spec{
		Policy:  policy,
		Servers: []config.Server{{Name: "a", Placement: "host", Command: path, Args: []string{"fake-server", "one"}, Env: quick}},
		Agent: &config.Agent{Path: "/bin/sh", Args: []string{
			"-c",
			`echo "level=$BRIDGE_LEVEL" >&2; exec "$0" fake-agent call "$BRIDGE_SERVER_A_URL#BRIDGE_SERVER_A_TOKEN" >&2`, path,
		}, Env: quick},
		Paths: &config.Paths{RO: []string{path}},
	}, ref.Options{Events: event.NewRecorder(os.Stdout), Stderr: os.Stderr})
	return exit.Status()
}

// FBK-006, FBK-008: without a policy the agent never starts; with one, every
// layer that can be had stays, and the agent still reaches its server.
func TestHostThatCannotIsolate(t *testing.T) {
	needNamespaces(t)
	for _, row := range []struct{ knob, policy, level, stage, errno string }{
		{"net", "require", "", "clone", "ENOSPC"},
		{"net", "prefer", "shared/userns", "", "ENOSPC"},
		{"user", "require", "", "clone", "ENOSPC"},
		{"user", "prefer", "shared/none", "", "ENOSPC"},
		{"mnt", "prefer", "shared/none", "", "ENOSPC"},
		{"landlock", "require", "", "landlock", "ENOSYS"},
		{"landlock", "prefer", "isolated", "", "landlock"},
	} {
		t.Run(row.knob+" "+row.policy, func(t *testing.T) {
			t.Parallel()
			r := run{journal: newJournal()}
			cmd := exec.Command(self(t), "fake-limited", row.knob, row.policy)
			var stderr strings.Builder
			cmd.Stdout, cmd.Stderr, cmd.Env = r.journal, &stderr, append(os.Environ(), "TMPDIR="+t.TempDir(), "GORACE=atexit_sleep_ms=0")
			cmd.SysProcAttr = &syscall.SysProcAttr{
				Cloneflags:  syscall.CLONE_NEWUSER,
				UidMappings: []syscall.SysProcIDMap{{HostID: os.Getuid(), Size: 1}},
				GidMappings: []syscall.SysProcIDMap{{HostID: os.Getgid(), Size: 1}},
			}
			err := cmd.Run()
			var exit *exec.ExitError
			if err != nil && !errors.As(err, &exit) {
				t.Skip("this host makes no user namespace:", err)
			}
			r.exit.Code, r.stderr = cmd.ProcessState.ExitCode(), stderr.String()
			if row.level == "" {
				wantRefusal(t, r, row.stage, row.errno)
				return
			}
			mode := r.lines()[0]
			if r.exit.Code != 0 || mode.Level != row.level || !strings.Contains(mode.Reason, row.errno) {
				t.Errorf("exit %d, first event %+v, stderr %q", r.exit.Code, mode, r.stderr)
			}
			for _, layer := range []string{"landlock", "seccomp", "no-new-privs", "descriptors", "environment"} {
				if mode.Layers[layer] != "on" && layer != row.knob {
					t.Errorf("layer %s is %q at level %s", layer, mode.Layers[layer], row.level)
				}
			}
			if want := "level=" + row.level + "\n200 one\n"; r.stderr != want {
				t.Errorf("agent says %q, want %q", r.stderr, want)
			}
		})
	}
}

func wantRefusal(t *testing.T, r run, stage, errno string) {
	t.Helper()
	e := r.of("error")
	if r.exit.Code != ref.CodeFailure || len(e) != 1 || e[0].Stage != stage || e[0].Errno != errno || len(e[0].Causes) == 0 {
		t.Errorf("exit %d, error %+v; want 125 and %s, %s and its causes", r.exit.Code, e, stage, errno)
	}
	if len(r.of("mode")) > 0 || len(r.of("server-started")) > 0 || r.stderr != "" {
		t.Errorf("something was started: %s%s", r.text.String(), r.stderr)
	}
}
