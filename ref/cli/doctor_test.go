package cli

import (
	"encoding/json"
	"os"
	"strings"
	"syscall"
	"testing"

	"bridgecheck/ref/sandbox"
)

// reported is the part of doctor's JSON that scripts read.
type reported struct {
	Level    sandbox.Level
	Missing  []string
	Findings []sandbox.Finding
}

func TestDoctor(t *testing.T) {
	needNamespaces(t)
	code, out, stderr := run(t, program(t, "doctor", "--json"))
	var r reported
	if err := json.Unmarshal([]byte(out), &r); err != nil || code != 0 || r.Level != sandbox.Isolated || len(r.Missing) != 0 || len(r.Findings) == 0 {
		t.Errorf("exit %d, %v, %+v, stderr %q", code, err, r, stderr)
	}
	code, out, _ = run(t, program(t, "doctor"))
	if code != 0 || !strings.Contains(out, "landlock            ok       ABI ") || !strings.Contains(out, "isolated with every layer") {
		t.Errorf("exit %d, %s", code, out)
	}
}

// A script learns from the exit code that a host cannot isolate.
func TestDoctorOnPoorHost(t *testing.T) {
	needNamespaces(t)
	limited := func(args ...string) (int, string) {
		cmd := program(t, args...)
		cmd.Env = append(cmd.Env, noNetNS+"=1")
		cmd.SysProcAttr = &syscall.SysProcAttr{
			Cloneflags:  syscall.CLONE_NEWUSER,
			UidMappings: []syscall.SysProcIDMap{{HostID: os.Getuid(), Size: 1}},
			GidMappings: []syscall.SysProcIDMap{{HostID: os.Getgid(), Size: 1}},
		}
		code, out, _ := run(t, cmd)
		return code, out
	}
	code, out := limited("doctor", "--json")
	var r reported
	if err := json.Unmarshal([]byte(out), &r); err != nil || code != 1 || r.Level != sandbox.SharedUserNS || len(r.Missing) != 1 {
		t.Errorf("exit %d, %v, %s", code, err, out)
	}
	code, out = limited("doctor")
	if code != 1 || !strings.Contains(out, "- the limit of net namespaces is 0") || !strings.Contains(out, "Missing here: isolated.") {
		t.Errorf("exit %d, %s", code, out)
	}
}

// noNetNS makes the program use its network namespaces up first (namespaces(7)).
const noNetNS = "REFBRIDGE_TEST_NO_NETNS"

func poorer() error {
	if os.Getenv(noNetNS) == "" {
		return nil
	}
	return os.WriteFile("/proc/sys/user/max_net_namespaces", []byte("0"), 0)
}
