package sandbox_test

import (
	"net"
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"golang.org/x/sys/unix"

	"bridgecheck/ref/sandbox"
)

var shared = []sandbox.Level{sandbox.SharedUserNS, sandbox.SharedNone}

// atLevel gives a spec what it needs to start at a level: without a mount
// namespace there is no private /tmp to be in.
func atLevel(spec sandbox.Spec, level sandbox.Level) sandbox.Spec {
	spec.Level = level
	if level == sandbox.SharedNone {
		spec.Cwd = "/"
	}
	return spec
}

func needLevel(t *testing.T, level sandbox.Level) {
	t.Helper()
	if level != sandbox.SharedNone {
		needNamespaces(t)
	}
}

func TestSharedLayers(t *testing.T) {
	for _, level := range shared {
		needLevel(t, level)
		s := launch(t, atLevel(role(t, "status"), level))
		namespaces := "on"
		if level == sandbox.SharedNone {
			namespaces = "missing"
		}
		capabilities := "on"
		if level == sandbox.SharedNone && !ownsBounding(t) {
			capabilities = "missing"
		}
		want(t, s.Layers(), map[string]string{
			"netns": "missing", "userns": namespaces, "pidns": namespaces, "mountns": namespaces, "ipcns": namespaces,
			"utsns": namespaces, "landlock": "on", "seccomp": "on", "no-new-privs": "on", "capabilities": capabilities, "descriptors": "on",
		})
	}
}

// ownsBounding tells whether this process may empty its bounding set.
func ownsBounding(t *testing.T) bool {
	t.Helper()
	held, err := unix.PrctlRetInt(unix.PR_CAPBSET_READ, unix.CAP_SETPCAP, 0, 0, 0)
	if err != nil {
		t.Fatal(err)
	}
	return held == 1 && os.Geteuid() == 0
}

func TestSharedStatus(t *testing.T) {
	for _, level := range shared {
		needLevel(t, level)
		out, exit := run(t, atLevel(role(t, "status"), level))
		if exit != (sandbox.Exit{}) {
			t.Fatalf("%s: %+v: %s", level, exit, out)
		}
		const none = "0000000000000000"
		want(t, facts(out), map[string]string{
			"CapInh": none, "CapPrm": none, "CapEff": none, "CapAmb": none, "NoNewPrivs": "1", "Seccomp": "2",
			"sid": "true", "tty": "ENXIO",
		})
		out, _ = run(t, atLevel(role(t, "fds"), level))
		want(t, facts(out), map[string]string{"fds": "[0 1 2]"})
		out, _ = run(t, atLevel(role(t, "calls"), level))
		want(t, facts(out), map[string]string{
			"unshare-user": "EPERM", "clone3": "ENOSYS", "io_uring": "ENOSYS", "ptrace-init": "EPERM", "tiocsti-high": "EPERM",
			"socket-40": "EAFNOSUPPORT", "kill-init": "EPERM",
		})
	}
}

// The doors are the host's own ephemeral ports, and answer.
func TestSharedListeners(t *testing.T) {
	for _, level := range shared {
		needLevel(t, level)
		probe := atLevel(role(t, "dial"), level)
		probe.Ports = []uint16{18080, 0}
		var targets []string
		first := launch(t, probe)
		for i, l := range first.Listeners() {
			if l.Asked != probe.Ports[i] || l.Port == l.Asked || l.V6 {
				t.Errorf("%s: listener %d is %+v", level, i, l)
			}
			targets = append(targets, l.Addr().String())
			go func() {
				for {
					c, err := l.Accept()
					if err != nil {
						return
					}
					_, _ = c.Write([]byte("here"))
					c.Close()
				}
			}()
			c, err := net.Dial("tcp", l.Addr().String())
			if err != nil {
				t.Skip("control: this host's own loopback does not work: ", err)
			}
			c.Close()
		}
		out, _ := run(t, atLevel(role(t, "dial", targets...), level))
		for _, target := range targets {
			want(t, facts(out), map[string]string{target: "here"})
		}
		_ = first.Kill()
		_, _ = first.Wait()
		for _, l := range first.Listeners() {
			if c, err := net.Dial("tcp", l.Addr().String()); err == nil {
				c.Close()
				t.Errorf("%s: a door outlives the sandbox", level)
			}
		}
	}
}

func TestSharedFiles(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"rw", "ro", "hidden"} {
		if err := os.MkdirAll(filepath.Join(dir, name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name, "f"), nil, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	p := func(name string) string { return filepath.Join(dir, name, "f") }
	l, err := net.Listen("unix", filepath.Join(dir, "hidden", "s"))
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	abstract := "@bridgecheck-shared-" + strconv.Itoa(os.Getpid())
	a, err := net.Listen("unix", abstract)
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	for _, row := range []struct {
		level                             sandbox.Level
		hidden, writeRO, socket, abstract string
	}{
		{sandbox.SharedUserNS, "ENOENT", "EROFS", "ENOENT", "EPERM"},
		{sandbox.SharedNone, "EACCES", "EACCES", "EAFNOSUPPORT", "EAFNOSUPPORT"},
	} {
		needLevel(t, row.level)
		spec := atLevel(role(t, "open", p("rw"), p("ro"), p("hidden"), "/etc/shadow", "/proc/sys/kernel/core_pattern"), row.level)
		spec.RO, spec.RW = []string{filepath.Join(dir, "ro")}, []string{filepath.Join(dir, "rw")}
		out, _ := run(t, spec)
		shadow := row.hidden
		if _, err := os.Stat("/etc/shadow"); err != nil {
			shadow = "ENOENT"
		}
		want(t, facts(out), map[string]string{
			"read-" + p("rw"): "ok", "write-" + p("rw"): "ok", "read-" + p("ro"): "ok", "write-" + p("ro"): row.writeRO,
			"read-" + p("hidden"): row.hidden, "write-" + p("hidden"): row.hidden, "read-/etc/shadow": shadow,
		})
		if got := facts(out)["write-/proc/sys/kernel/core_pattern"]; got == "ok" {
			t.Errorf("%s: core_pattern could be opened for writing", row.level)
		}
		out, _ = run(t, atLevel(role(t, "dial", l.Addr().String(), abstract), row.level))
		want(t, facts(out), map[string]string{l.Addr().String(): row.socket, abstract: row.abstract})
	}
}

// Everything ends with the agent, by a sweep where there is no PID namespace.
func TestSharedOrphans(t *testing.T) {
	for _, level := range shared {
		needLevel(t, level)
		spec := atLevel(shell("setsid sleep 1000 & (setsid sh -c 'trap \"\" TERM HUP; sleep 1000; sleep 1000' &); exit 4"), level)
		if _, exit := run(t, spec); exit != (sandbox.Exit{Code: 4}) { // the pipe ends too
			t.Errorf("%s: got %+v", level, exit)
		}
	}
}
