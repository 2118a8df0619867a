package sandbox_test

import (
	"encoding/json"
	"net"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

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
		if f.Name == "sockets" && oldLandlock(t) {
			if f.OK || f.Stage != sandbox.StageLandlock || !strings.Contains(f.Error, "ABI") || len(f.Causes) == 0 {
				t.Errorf("this kernel cannot refuse a socket in a declared directory, but got %+v", f)
			}
			continue
		}
		if !f.OK {
			t.Errorf("%+v", f)
		}
	}
}

// oldLandlock tells whether the kernel has no right for Unix sockets, which came
// with ABI 9.
func oldLandlock(t *testing.T) bool {
	t.Helper()
	abi, _, errno := unix.Syscall(unix.SYS_LANDLOCK_CREATE_RULESET, 0, 0, unix.LANDLOCK_CREATE_RULESET_VERSION)
	if errno != 0 {
		t.Fatalf("ask for the Landlock ABI: %v", errno)
	}
	return abi < 9
}

// TestSocketsInDeclared holds the layer sockets to what an agent can do.
func TestSocketsInDeclared(t *testing.T) {
	needNamespaces(t)
	dir := t.TempDir()
	l, err := net.Listen("unix", dir+"/s")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	go greet(l)
	for _, level := range append([]sandbox.Level{sandbox.Isolated}, shared...) {
		spec := atLevel(role(t, "dial", dir+"/s"), level)
		spec.RO = append(spec.RO, dir)
		w, out := capture(t)
		spec.Stdout, spec.Stderr = w, w
		s := launch(t, spec)
		if err := s.Start(); err != nil {
			t.Fatal(err)
		}
		w.Close()
		exit, err := s.Wait()
		told, refused := s.Layers()["sockets"], facts(out.String())[dir+"/s"] != "hello"
		if err != nil || exit != (sandbox.Exit{}) || refused != (told == "on") {
			t.Errorf("level %s tells %q, and the agent says %q (%+v, %v)", level, told, out, exit, err)
		}
	}
}

// greet says hello to whoever connects.
func greet(l net.Listener) {
	for {
		c, err := l.Accept()
		if err != nil {
			return
		}
		_, _ = c.Write([]byte("hello"))
		c.Close()
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
