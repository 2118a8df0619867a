//go:build !go_arapuca_020

package program

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	arapuca "github.com/LeGambiArt/go-arapuca"
	"golang.org/x/sys/unix"

	"bridgecheck/ref/sandbox"
)

// TestMain lets the tests launch: this binary is arapuca, too.
func TestMain(m *testing.M) {
	Main()
	arapuca.SetProgram("/proc/self/exe")
	os.Exit(m.Run())
}

// launched runs a shell script by the library, and gives what it printed.
func launchScript(t *testing.T, cfg arapuca.Config, script string) (out string, code int, err error) {
	t.Helper()
	p, read := startScript(t.Context(), t, cfg, script)
	code, err = p.Wait()
	p.Cleanup()
	return read(), code, err
}

func startScript(ctx context.Context, t *testing.T, cfg arapuca.Config, script string) (*arapuca.Process, func() string) {
	t.Helper()
	needNamespaces(t)
	temp := t.TempDir()
	t.Setenv("TMPDIR", temp)
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	t.Cleanup(func() { r.Close() })
	cfg.Stdout, cfg.Stderr = w, os.Stderr
	cfg.Profile.ReadPaths = append(cfg.Profile.ReadPaths, sandbox.SystemPaths...)
	box, err := arapuca.New()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(box.Close)
	p, err := box.Launch(ctx, cfg, "/bin/sh", []string{"-c", script}, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if left, err := filepath.Glob(temp + "/*"); err != nil || len(left) > 0 {
			t.Errorf("left in TMPDIR: %v (%v)", left, err)
		}
	})
	return p, func() string {
		var all strings.Builder
		buf := make([]byte, 4096)
		for {
			n, err := r.Read(buf)
			all.Write(buf[:n])
			if err != nil {
				return all.String()
			}
		}
	}
}

func needNamespaces(t *testing.T) {
	t.Helper()
	if _, err := os.Stat("/bin/sh"); err != nil {
		t.Skip("there is no /bin/sh here")
	}
	if !arapuca.NetNSAvailable() {
		t.Skip("this host lets no namespaces be made")
	}
	if arapuca.LandlockABIVersion() == 0 {
		t.Skip("this host has no Landlock")
	}
}

// TestEnds: the process that the library sees ends as the command has.
func TestEnds(t *testing.T) {
	for _, tt := range []struct {
		script string
		code   int
		err    string
	}{
		{"exit 0", 0, ""},
		{"exit 3", 3, ""},
		{"exit 137", 137, ""},
		{"kill -HUP $$", 0, "killed by signal 1"},
		{"kill -KILL $$", 0, "killed by signal 9"},
		{"kill -SEGV $$", 0, "killed by signal 11"},
		{"kill -TERM $$", 0, "killed by signal 15"},
	} {
		t.Run(tt.script, func(t *testing.T) {
			_, code, err := launchScript(t, arapuca.Config{}, tt.script)
			if code != tt.code || text(err) != tt.err {
				t.Errorf("%d, %v", code, err)
			}
		})
	}
}

func text(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

// TestCancel: the end of the context is the end of everything.
func TestCancel(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	p, read := startScript(ctx, t, arapuca.Config{Profile: arapuca.Profile{UseNetNS: true, UsePidNS: true}}, "trap '' TERM; echo here; sleep 1000 & wait")
	cancel()
	if code, err := p.Wait(); text(err) != "killed by signal 9" {
		t.Errorf("%d, %v", code, err)
	}
	_ = read() // ends when nothing holds the pipe
	if err := unix.Kill(p.PID(), 0); err == nil {
		t.Error("the process is still there")
	}
}

// TestNetwork: the relay's port is the only way, and leads to the proxy's answer.
func TestNetwork(t *testing.T) {
	if _, err := os.Stat("/bin/bash"); err != nil {
		t.Skip("there is no bash, which can open connections")
	}
	const ask = `exec /bin/bash -c 'ask() { exec 3<>/dev/tcp/127.0.0.1/18080; printf "$1" >&3; cat <&3; }
ask "CONNECT 127.0.0.1:1 HTTP/1.1\r\n\r\n"; ask "CONNECT b.example:443 HTTP/1.1\r\n\r\n"; ask "GET http://a.example/ HTTP/1.1\r\n\r\n"; echo "$https_proxy"'`
	cfg := arapuca.Config{
		Profile:      arapuca.Profile{SeccompProfile: arapuca.SeccompProfileBaseline},
		AllowedHosts: []arapuca.AllowedHost{{Host: "127.0.0.1", Port: 1}},
	}
	out, code, err := launchScript(t, cfg, ask)
	// Nobody listens at what is allowed.
	if want := badGateway + forbidden + malformed + "http://127.0.0.1:18080\n"; out != want || code != 0 || err != nil {
		t.Errorf("%q, %d, %v", out, code, err)
	}
}

// TestSetUpFailures are errors of Launch, and nothing is left of any.
func TestSetUpFailures(t *testing.T) {
	needNamespaces(t)
	long := filepath.Join(t.TempDir(), strings.Repeat("d", 100))
	if err := os.Mkdir(long, 0o700); err != nil {
		t.Fatal(err)
	}
	hosts := []arapuca.AllowedHost{{Host: "a.example", Port: 443}}
	for _, tt := range []struct {
		name, temp, says string
		cfg              arapuca.Config
	}{
		{"no TMPDIR", "/nonexistent", "no such file", arapuca.Config{}},
		{"a socket's path that is too long", long, "proxy: ", arapuca.Config{AllowedHosts: hosts}},
		{"two proxies", t.TempDir(), "exclude", arapuca.Config{AllowedHosts: hosts, NetworkProxySocket: "/p"}},
		{"a colon", t.TempDir(), "colon", arapuca.Config{NetworkProxySocket: "/a:b"}},
		{"no work dir", t.TempDir(), "work dir", arapuca.Config{WorkDir: "/nonexistent"}},
		{"no rule", t.TempDir(), "not a name", arapuca.Config{AllowedHosts: []arapuca.AllowedHost{{Host: "http://a", Port: 1}}}},
		{"a NUL", t.TempDir(), "NUL", arapuca.Config{Env: map[string]string{"A": "\x00"}}},
		{"a task id", t.TempDir(), "task id", arapuca.Config{TaskID: "a/b"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Setenv("TMPDIR", tt.temp)
			box, err := arapuca.New()
			if err != nil {
				t.Fatal(err)
			}
			defer box.Close()
			_, err = box.Launch(t.Context(), tt.cfg, "/bin/true", nil, nil)
			if err == nil || !strings.Contains(err.Error(), tt.says) {
				t.Errorf("got %v", err)
			}
			if left, _ := filepath.Glob(tt.temp + "/*"); len(left) > 0 {
				t.Errorf("left: %v", left)
			}
		})
	}
}
