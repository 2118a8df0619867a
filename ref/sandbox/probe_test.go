package sandbox_test

import (
	"encoding/json"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"

	"bridgecheck/ref/sandbox"
)

func init() {
	roles["doctor"] = func(args []string) int {
		if len(args) > 0 {
			for _, k := range knobs {
				if k.name == args[0] {
					if err := k.apply(); err != nil {
						return 3
					}
				}
			}
		}
		if err := json.NewEncoder(os.Stdout).Encode(sandbox.Probe()); err != nil {
			return 1
		}
		return 0
	}
}

func TestProbe(t *testing.T) {
	needNamespaces(t)
	report := sandbox.Probe()
	if report.Level() != sandbox.Isolated {
		t.Errorf("the level is %q: %+v", report.Level(), report.Findings)
	}
	for _, f := range report.Findings {
		if f.Name == sandbox.TrialPIDs && os.Getuid() == 0 {
			if f.OK || f.Stage != sandbox.StageLimits || len(f.Causes) == 0 {
				t.Errorf("root is not held by a limit of processes, but got %+v", f)
			}
			continue
		}
		if !f.OK {
			t.Errorf("%+v", f)
		}
	}
}

// A host that makes no network namespace still makes the rest, and says why.
func TestProbeDenied(t *testing.T) {
	needNamespaces(t)
	cmd := exec.Command(self(t), "doctor", "max-net-ns")
	cmd.SysProcAttr = &syscall.SysProcAttr{
		Cloneflags:  syscall.CLONE_NEWUSER | syscall.CLONE_NEWNS,
		UidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getuid(), Size: 1}},
		GidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getgid(), Size: 1}},
	}
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	var report sandbox.HostReport
	if err := json.Unmarshal(out, &report); err != nil {
		t.Fatal(err)
	}
	if report.Level() != sandbox.SharedUserNS {
		t.Errorf("the level is %q, want %q", report.Level(), sandbox.SharedUserNS)
	}
	for _, f := range report.Findings {
		switch f.Name {
		case "netns", string(sandbox.Isolated):
			if f.OK || f.Errno != "ENOSPC" || len(f.Causes) == 0 || !strings.Contains(f.Causes[0], "user.max_net_namespaces") {
				t.Errorf("%+v", f)
			}
		case "userns", "pidns", "landlock":
			if !f.OK {
				t.Errorf("%+v", f)
			}
		}
	}
}
