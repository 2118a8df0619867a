package sandbox_test

import (
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

func TestFiles(t *testing.T) {
	needNamespaces(t)
	dir := t.TempDir()
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"rw", "ro", "hidden"} {
		if err := os.MkdirAll(filepath.Join(dir, name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name, "f"), []byte(name), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink("../hidden/f", filepath.Join(dir, "rw", "link")); err != nil {
		t.Fatal(err)
	}
	p := func(name string) string { return filepath.Join(dir, name) }
	spec := role(t, "open", p("rw/f"), p("ro/f"), p("hidden/f"), p("rw/link"), p("rw/../hidden/f"), p("ro"),
		"/etc/shadow", "/etc/passwd", "/etc/ssl/private", "/root", "/sys", "/", "/.sandbox", "/var/run/docker.sock",
		"/proc/sys/kernel/core_pattern", "/proc/sys/vm/drop_caches", "/proc/sys/net/ipv4/ip_forward", "/proc/sysrq-trigger",
		"/dev/kmsg", "/dev/mem", "/dev/null", "/proc/1/environ", "/proc/1/mem", "/proc/self/comm")
	spec.RO, spec.RW = []string{p("ro")}, []string{p("rw")}
	out, _ := run(t, spec)
	want(t, facts(out), map[string]string{
		"read-" + p("rw/f"): "ok", "write-" + p("rw/f"): "ok", "read-" + p("ro/f"): "ok", "write-" + p("ro/f"): "EROFS",
		"read-" + p("hidden/f"): "ENOENT", "read-" + p("rw/link"): "ENOENT", "read-" + p("rw/../hidden/f"): "ENOENT",
		"read-" + p("ro"): "ok", "read-/etc/shadow": "ENOENT", "read-/etc/passwd": "ok",
		"read-/etc/ssl/private": "ENOENT", "read-/root": "ENOENT", "read-/sys": "ENOENT", "read-/": "ok",
		"read-/.sandbox": "EACCES", "read-/var/run/docker.sock": "ENOENT",
		"read-/dev/kmsg": "ENOENT", "read-/dev/mem": "ENOENT", "write-/dev/null": "ok",
		"read-/proc/1/mem": "EACCES", "read-/proc/1/environ": "EACCES", "write-/proc/self/comm": "ok",
	})
	for _, file := range []string{
		"/etc/passwd", "/proc/sys/kernel/core_pattern", "/proc/sys/vm/drop_caches", "/proc/sys/net/ipv4/ip_forward", "/proc/sysrq-trigger",
	} {
		if got := facts(out)["write-"+file]; got != "EROFS" && got != "EACCES" && got != "EPERM" && got != "ENOENT" {
			t.Errorf("%s could be opened for writing: %s", file, got)
		}
	}
}

// A socket of the host at a path that no list would think of.
func TestHostSockets(t *testing.T) {
	needNamespaces(t)
	dir := t.TempDir()
	path := filepath.Join(dir, "odd", "x.sock")
	if err := os.Mkdir(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	abstract := "@bridgecheck-" + strconv.Itoa(os.Getpid())
	var targets []string
	for _, name := range []string{path, abstract} {
		l, err := net.Listen("unix", name)
		if err != nil {
			t.Fatal(err)
		}
		defer l.Close()
		go func() {
			for {
				c, err := l.Accept()
				if err != nil {
					return
				}
				_, _ = c.Write([]byte("reached"))
				c.Close()
			}
		}()
		c, err := net.Dial("unix", name) // control: it can be reached from here
		if err != nil {
			t.Fatal(err)
		}
		c.Close()
		targets = append(targets, name)
	}
	out, _ := run(t, role(t, "dial", targets...))
	want(t, facts(out), map[string]string{path: "ENOENT", abstract: "ECONNREFUSED"})
}

// What in /proc is for root's eyes is empty, to root too.
func TestProcMasked(t *testing.T) {
	needNamespaces(t)
	out, _ := run(t, shell("for f in kallsyms keys timer_list slabinfo vmallocinfo kpagecount kmsg; do test -e /proc/$f && cat /proc/$f; done | wc -c; ls /proc/scsi /proc/acpi 2>/dev/null | grep -vc :"))
	if f := strings.Fields(out); len(f) < 2 || f[0] != "0" || f[1] != "0" {
		t.Errorf("got %q, want 0 bytes and 0 entries", out)
	}
}

// A crash of the agent starts no program of the host.
func TestNoCore(t *testing.T) {
	needNamespaces(t)
	out, _ := run(t, shell("grep 'Max core' /proc/self/limits"))
	if f := strings.Fields(out); len(f) < 6 || f[4] != "1" || f[5] != "1" {
		t.Errorf("got %q, want a limit of 1, which stops a piped dump as well", out)
	}
}
