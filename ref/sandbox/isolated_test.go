package sandbox_test

import (
	"net/http"
	"os"
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
	want := "on"
	if _, err := os.Stat("/proc/self/ns/cgroup"); err != nil {
		want = "missing" // the kernel has no control groups
	}
	if got := s.Layers()["cgroupns"]; got != want {
		t.Errorf("layer cgroupns: got %q, want %s", got, want)
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
