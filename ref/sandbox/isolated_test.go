package sandbox_test

import (
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"bridgecheck/ref/sandbox"
)

func want(t *testing.T, got, want map[string]string) {
	t.Helper()
	for name, w := range want {
		if got[name] != w {
			t.Errorf("%s: got %q, want %q", name, got[name], w)
		}
	}
}

func TestStatus(t *testing.T) {
	needNamespaces(t)
	for _, profile := range []sandbox.Profile{sandbox.Baseline, sandbox.Strict} {
		spec := role(t, "status")
		spec.Seccomp = profile
		out, exit := run(t, spec)
		if exit != (sandbox.Exit{}) {
			t.Fatalf("exit %+v: %s", exit, out)
		}
		const none = "0000000000000000"
		want(t, facts(out), map[string]string{
			"CapInh": none, "CapPrm": none, "CapEff": none, "CapBnd": none, "CapAmb": none,
			"NoNewPrivs": "1", "Seccomp": "2", "sid": "true", "tty": "ENXIO", "uid": strconv.Itoa(os.Getuid()),
		})
	}
}

func TestLayers(t *testing.T) {
	needNamespaces(t)
	s := launch(t, role(t, "status"))
	for _, layer := range []string{
		"userns", "netns", "pidns", "mountns", "ipcns", "utsns",
		"landlock", "seccomp", "no-new-privs", "capabilities", "descriptors",
	} {
		if got := s.Layers()[layer]; got != "on" {
			t.Errorf("layer %s: got %q, want on", layer, got)
		}
	}
}

func TestLayersOff(t *testing.T) {
	needNamespaces(t)
	spec := role(t, "status")
	spec.Landlock, spec.Seccomp = false, sandbox.Off
	s := launch(t, spec)
	want(t, s.Layers(), map[string]string{"landlock": "off", "seccomp": "off", "netns": "on"})
	if abi := s.LandlockABI(); abi != 0 {
		t.Errorf("the Landlock ABI is %d, want 0: it is off", abi)
	}
}

func TestNetwork(t *testing.T) {
	needNamespaces(t)
	spec := role(t, "network", "203.0.113.7:443", "192.0.2.1:80", "[2001:db8::7]:443", "127.0.0.1:18080", "127.0.0.1:1")
	spec.Ports = []uint16{18080}
	out, _ := run(t, spec)
	got := facts(out)
	want(t, got, map[string]string{
		"interfaces-error": "<nil>", "routes4": "0", "lo-down": "EPERM", "lookup": "true",
		"dial-203.0.113.7:443": "ENETUNREACH", "dial-192.0.2.1:80": "ENETUNREACH", "dial-[2001:db8::7]:443": "ENETUNREACH",
		"dial-127.0.0.1:18080": "ok", "listen-127.0.0.1:18080": "EADDRINUSE", "dial-127.0.0.1:1": "ECONNREFUSED",
	})
	for name := range got {
		if strings.HasPrefix(name, "interface-") && name != "interface-lo" || strings.HasPrefix(name, "route6-") {
			t.Errorf("the sandbox has %s: %s", name, got[name])
		}
	}
	if lo := got["interface-lo"]; !strings.Contains(lo, "up") || !strings.Contains(lo, "running") || !strings.Contains(lo, "127.0.0.1/8") {
		t.Errorf("lo is %q, want up, running, with 127.0.0.1/8", lo)
	}
}

func TestListeners(t *testing.T) {
	needNamespaces(t)
	spec := role(t, "dial")
	spec.Ports = []uint16{18080, 0, 80}
	for _, l := range launch(t, spec).Listeners() {
		if l.Asked != 0 && l.Port != l.Asked || l.Port == 0 {
			t.Errorf("asked for port %d, got %d", l.Asked, l.Port)
		}
	}
	w, out := capture(t)
	spec.Stdout = w
	spec.Ports = []uint16{18080, 18081}
	spec.Args = append(spec.Args, "127.0.0.1:18080", "[::1]:18080", "127.0.0.1:18081", "[::1]:18081")
	s := launch(t, spec)
	if n := len(s.Listeners()); n != 4 && n != 2 {
		t.Fatalf("got %d listeners, want two for each port, or one without IPv6", n)
	}
	for _, l := range s.Listeners() {
		go func() {
			c, err := l.Accept()
			if err != nil {
				return
			}
			_, _ = c.Write([]byte("port " + strconv.Itoa(int(l.Port)) + " v6 " + strconv.FormatBool(l.V6)))
			c.Close()
		}()
	}
	if err := s.Start(); err != nil {
		t.Fatal(err)
	}
	w.Close()
	if _, err := s.Wait(); err != nil {
		t.Fatal(err)
	}
	got := facts(out.String())
	want(t, got, map[string]string{
		"127.0.0.1:18080": "port 18080 v6 false", "127.0.0.1:18081": "port 18081 v6 false",
	})
	if len(s.Listeners()) == 4 {
		want(t, got, map[string]string{"[::1]:18080": "port 18080 v6 true", "[::1]:18081": "port 18081 v6 true"})
	}
	for _, l := range s.Listeners() {
		if _, err := l.Accept(); err == nil {
			t.Error("a listener outlives the sandbox")
		}
	}
}

// More listeners than one message carries, and a server of the standard
// library on one of them.
func TestManyListeners(t *testing.T) {
	needNamespaces(t)
	spec := shell("curl -s http://127.0.0.1:20000/")
	for p := range uint16(300) {
		spec.Ports = append(spec.Ports, 20000+p)
	}
	w, out := capture(t)
	spec.Stdout = w
	s := launch(t, spec)
	if n := len(s.Listeners()); n != 600 && n != 300 {
		t.Fatalf("got %d listeners, want 600 (300 without IPv6)", n)
	}
	if _, err := os.Stat("/usr/bin/curl"); err != nil {
		t.Skip("no curl here")
	}
	server := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("hello")) })}
	served := make(chan error, 1)
	go func() { served <- server.Serve(s.Listeners()[0]) }()
	if err := s.Start(); err != nil {
		t.Fatal(err)
	}
	w.Close()
	if _, err := s.Wait(); err != nil {
		t.Fatal(err)
	}
	if got := out.String(); got != "hello" {
		t.Errorf("got %q, want hello", got)
	}
	<-served // the listener was closed with the sandbox
	_ = server.Close()
}

func TestCalls(t *testing.T) {
	needNamespaces(t)
	for _, profile := range []sandbox.Profile{sandbox.Baseline, sandbox.Strict} {
		spec := role(t, "calls")
		spec.Seccomp = profile
		out, _ := run(t, spec)
		got := facts(out)
		want(t, got, map[string]string{
			"unshare-user": "EPERM", "unshare-files": "ok", "clone3": "ENOSYS", "io_uring": "ENOSYS", "mount": "EPERM",
			"ptrace-init": "EPERM", "keyctl": "EPERM", "bpf": "EPERM", "pidfd_getfd": "EPERM",
			"tiocsti": "EPERM", "tiocsti-high": "EPERM", "raw": "EPERM", "netlink-audit": "EAFNOSUPPORT",
			"kill-init": "EPERM",
		})
		for family := range 46 {
			w := "EAFNOSUPPORT"
			switch {
			case family == unix.AF_UNIX, family == unix.AF_INET, family == unix.AF_INET6,
				family == unix.AF_NETLINK && profile == sandbox.Baseline:
				w = "ok"
			}
			if g := got["socket-"+strconv.Itoa(family)]; g != w {
				t.Errorf("%s: socket family %d: got %q, want %q", profile, family, g, w)
			}
		}
	}
}

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
