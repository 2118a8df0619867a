package lab_test

import (
	"bytes"
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"

	"bridgecheck/suites/lab"
)

// inside is what the test binary does when a lab runs it.
const inside = "LAB_TEST_INSIDE"

func TestMain(m *testing.M) {
	lab.Main()
	if os.Getenv(inside) != "" {
		look()
		os.Exit(7)
	}
	os.Exit(m.Run())
}

// look prints what a check relies on.
func look() {
	fmt.Println("uid", os.Getuid())
	for _, address := range []string{"203.0.113.10:80", "10.1.2.3:53", "169.254.169.254:80", "[2001:db8::1]:443"} {
		l, err := net.Listen("tcp", address)
		fmt.Println("listen", address, err)
		if err == nil {
			l.Close()
		}
	}
	_, err := net.Dial("udp", "8.8.8.8:53")
	fmt.Println("outside", err)
	for _, file := range []string{"/etc/resolv.conf", "/etc/hosts"} {
		raw, _ := os.ReadFile(file)
		fmt.Println(strings.ReplaceAll(string(raw), "\n", " "))
	}
	fmt.Println("out", os.WriteFile(lab.Root+"/out/file", []byte("x"), 0o644))
	fmt.Println("bin", exec.Command(lab.Root+"/bin/true").Run())
	fmt.Println("folder", exec.Command(lab.Root+"/bin/folder/true").Run())
	entries, _ := os.ReadDir("/proc/self/fd")
	fmt.Println("descriptors", len(entries))
}

func TestLab(t *testing.T) {
	probe := exec.Command("/bin/true")
	probe.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWUSER | syscall.CLONE_NEWNET}
	if err := probe.Run(); err != nil {
		t.Skipf("no user namespace can be made here: %v", err)
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	// A machine may close what its users make to all others.
	defer syscall.Umask(syscall.Umask(0o077))
	hosts := "127.0.0.1 localhost" // covered where the machine has one
	if _, err := os.Stat("/etc/hosts"); err != nil {
		hosts = ""
	}
	for _, root := range []bool{false, true} {
		t.Run(fmt.Sprintf("root=%v", root), func(t *testing.T) {
			uid, gid := lab.UserCell(root)
			out := t.TempDir()
			var stdout, stderr bytes.Buffer
			code, err := lab.Start(context.Background(), lab.Order{
				Programs: map[string]string{"self": self, "true": "/bin/true", "folder": "/bin"},
				Out:      out, UID: uid, GID: gid,
				Args: []string{lab.Root + "/bin/self"}, Env: []string{inside + "=1"},
			}, false, &stdout, &stderr)
			if err != nil {
				t.Fatalf("%v\n%s", err, stderr.String())
			}
			if code != 7 {
				t.Errorf("code %d", code)
			}
			for _, want := range []string{
				fmt.Sprintf("uid %d\n", uid), "listen 203.0.113.10:80 <nil>", "listen 10.1.2.3:53 <nil>",
				"listen 169.254.169.254:80 <nil>", "network is unreachable", "nameserver 127.0.0.1",
				hosts, "out <nil>", "bin <nil>", "folder <nil>",
			} {
				if !strings.Contains(stdout.String(), want) {
					t.Errorf("missing %q in\n%s", want, stdout.String())
				}
			}
			if _, err := os.Stat(out + "/file"); err != nil {
				t.Errorf("the results did not arrive: %v", err)
			}
		})
	}
}

// TestLabThatCannotBeMade names what is missing, and its command does not run.
func TestLabThatCannotBeMade(t *testing.T) {
	var stdout, stderr bytes.Buffer
	_, err := lab.Start(context.Background(), lab.Order{
		Programs: map[string]string{"gone": "/nonexistent/program"}, Out: t.TempDir(),
		Args: []string{"/bin/true"},
	}, false, &stdout, &stderr)
	if err == nil {
		t.Fatal("a lab without its program was made")
	}
	if said := err.Error() + stderr.String(); !strings.Contains(said, "/nonexistent/program") && !strings.Contains(said, "namespaces") {
		t.Errorf("it says %q", said)
	}
}
