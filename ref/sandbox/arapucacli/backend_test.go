package arapucacli

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"go.uber.org/goleak"

	"bridgecheck/ref/sandbox/external"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// arapuca is a shell script in its place.
func arapuca(t *testing.T, script string) Backend {
	t.Helper()
	path := filepath.Join(t.TempDir(), "arapuca")
	if err := os.WriteFile(path, []byte("#!/bin/sh\n"+script), 0o700); err != nil {
		t.Fatal(err)
	}
	return Backend{Path: path}
}

// options answers as versions do that have the options named.
func options(known string) string {
	return `[ "$1" = -V ] && { echo 'arapuca 0.2.8' >&2; exit 0; }
case "$2" in ` + known + `) echo "arapuca: missing -- before the command" >&2;; *) echo "arapuca: unknown flag: $2" >&2;; esac; exit 125`
}

func TestAbout(t *testing.T) {
	for _, row := range []struct {
		name, script, version string
		fields                []external.Field
		double                bool
	}{
		{"all", options("--allow-host|--deny-network|--seccomp|--memory|--pids"), "0.2.8", []external.Field{
			external.FieldAllowedHosts, external.FieldOwnNetwork, external.FieldSeccomp, external.FieldMemory, external.FieldPIDs,
		}, false},
		{"older", options("--memory|--pids"), "0.2.8", []external.Field{external.FieldMemory, external.FieldPIDs}, false},
		{"a double", "echo arapuca 0.2.8-double >&2", "0.2.8-double", nil, true},
		{"says nothing", "exit 1", "", nil, false},
	} {
		t.Run(row.name, func(t *testing.T) {
			b := arapuca(t, row.script)
			a := b.About()
			if !slices.Equal(a.Fields, row.fields) || a.Versions["arapuca"] != row.version || a.Double != row.double {
				t.Errorf("%+v, want %+v", a, row)
			}
			if err := b.Check(); (err == nil) != (row.version != "") {
				t.Errorf("check: %v", err)
			}
		})
	}
	if err := (Backend{Path: "/nowhere/arapuca"}).Check(); err == nil {
		t.Error("a path where nothing is")
	}
	t.Setenv("PATH", t.TempDir())
	if err := (Backend{}).Check(); err == nil || !strings.Contains(err.Error(), "install arapuca") {
		t.Errorf("not in PATH: %v", err)
	}
}

func TestArguments(t *testing.T) {
	ours := func(name string) (string, bool) { return "/ours", true }
	for _, row := range []struct {
		name string
		l    external.Launch
		want string // without run, and the command
		err  string
	}{
		{"nothing", external.Launch{}, "--no-pid-ns", ""},
		{"paths", external.Launch{RO: []string{"/usr", "/a b"}, RW: []string{"/w"}, Cwd: "/w"}, "-v /usr:ro -v /a b:ro -v /w --cwd /w --no-pid-ns", ""},
		{
			"hosts",
			external.Launch{OwnNetwork: true, AllowedHosts: []external.AllowedHost{{Host: "*.a.example", Port: 443}, {Host: "192.0.2.1", Port: 1}}},
			"--allow-host *.a.example:443 --allow-host 192.0.2.1:1", "",
		},
		{"own network alone", external.Launch{OwnNetwork: true}, "--deny-network", ""},
		{"own processes", external.Launch{OwnNetwork: true, OwnPIDs: true}, "--deny-network", ""},
		{"seccomp and limits", external.Launch{Seccomp: "baseline", Memory: 3*mib - 1, PIDs: 7}, "--no-pid-ns --seccomp baseline --memory 2 --pids 7", ""},
		{"a mebibyte", external.Launch{Memory: mib}, "--no-pid-ns --memory 1", ""},
		{
			"environment",
			external.Launch{Env: []string{"A=b=c", "PATH=/ours", "HOME=/ours", "https_proxy=http://127.0.0.1:18080", "NO_PROXY=localhost,127.0.0.1,::1", "BRIDGE_PROXY=http://127.0.0.1:18080"}},
			"--env A=b=c --env BRIDGE_PROXY=http://127.0.0.1:18080 --no-pid-ns", "",
		},
		{"another proxy", external.Launch{Env: []string{"HTTP_PROXY=http://192.0.2.1:1"}}, "--env HTTP_PROXY=http://192.0.2.1:1 --no-pid-ns", ""}, // arapuca refuses it

		{"a colon", external.Launch{RO: []string{"/a:b"}}, "", "RO"},
		{"a colon, writable", external.Launch{RW: []string{"/a:b"}}, "", "RW"},
		{"a chosen HOME", external.Launch{Env: []string{"HOME=/home/x"}}, "", "Env"},
		{"IPv6", external.Launch{OwnNetwork: true, AllowedHosts: []external.AllowedHost{{Host: "2001:db8::1", Port: 443}}}, "", "AllowedHosts"},
		{"underscore", external.Launch{OwnNetwork: true, AllowedHosts: []external.AllowedHost{{Host: "a_b.example", Port: 443}}}, "", "AllowedHosts"},
		{"less than a mebibyte", external.Launch{Memory: mib - 1}, "", "Limits"},
		{"a socket", external.Launch{OwnNetwork: true, ProxySocket: "/s"}, "", "Spec"},
		{"files", external.Launch{Files: 9}, "", "Spec"},
		{"processes without a network", external.Launch{OwnPIDs: true}, "", "Spec"},
	} {
		t.Run(row.name, func(t *testing.T) {
			row.l.Path, row.l.Args = "/bin/agent", []string{"--", "-x"}
			args, err := arguments(row.l, ours)
			if row.err != "" {
				if r, ok := errors.AsType[*external.Refused](err); !ok || r.Field != row.err || r.Reason == "" {
					t.Errorf("error %v, want one of %s", err, row.err)
				}
				return
			}
			want := strings.TrimSpace("run "+row.want) + " -- /bin/agent -- -x"
			if got := strings.Join(args, " "); got != want || err != nil {
				t.Errorf("%q, %v; want %q", got, err, want)
			}
		})
	}
}

// launch runs a script as arapuca and gives its end and what came on stderr.
func launch(t *testing.T, script string, meanwhile func(external.Process)) (external.Exited, string, error) {
	t.Helper()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	read := make(chan string, 1)
	go func() {
		text, _ := io.ReadAll(r)
		read <- string(text)
	}()
	null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer null.Close()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	p, err := arapuca(t, script).Launch(ctx, external.Launch{Path: "/bin/true"}, null, null, w)
	if err != nil {
		t.Fatal(err)
	}
	if meanwhile != nil {
		meanwhile(p)
	}
	exited, err := p.Wait()
	_ = w.Close()
	text := <-read
	_ = r.Close()
	return exited, text, err
}

func TestWait(t *testing.T) {
	for _, row := range []struct {
		script, stderr string
		exited         external.Exited
		err            string
	}{
		{"exit 0", "", external.Exited{}, ""},
		{"exit 7", "", external.Exited{Code: 7}, ""},
		{"exit 125", "", external.Exited{Code: 125}, ""},
		{"echo the agent >&2; exit 125", "the agent\n", external.Exited{Code: 125}, ""},
		{"echo arapuca: no cgroups >&2; exit 125", "arapuca: no cgroups\n", external.Exited{}, "arapuca: no cgroups"},
		{"echo arapuca: a warning >&2; exit 7", "arapuca: a warning\n", external.Exited{Code: 7}, ""},
		{"exit 128", "", external.Exited{Code: 128}, ""},
		{"exit 129", "", external.Exited{Signal: 1}, ""},
		{"exit 137", "", external.Exited{Signal: 9}, ""},
		{"exit 192", "", external.Exited{Signal: 64}, ""},
		{"exit 193", "", external.Exited{Code: 193}, ""},
		{"kill -KILL $$", "", external.Exited{Signal: 9}, ""},
		{"kill -TERM $$", "", external.Exited{}, "ended by signal 15"},
		{"head -c 300000 /dev/zero >&2", strings.Repeat("\x00", 300000), external.Exited{}, ""},
		{"sleep 3 & exit 3", "", external.Exited{Code: 3}, ""}, // something holds the stream
	} {
		t.Run(row.script, func(t *testing.T) {
			exited, stderr, err := launch(t, row.script, nil)
			if exited != row.exited || (err == nil) != (row.err == "") || err != nil && !strings.Contains(err.Error(), row.err) {
				t.Errorf("%+v, %v; want %+v, %q", exited, err, row.exited, row.err)
			}
			if stderr != row.stderr {
				t.Errorf("stderr of %d bytes, want %d: %.80q", len(stderr), len(row.stderr), stderr)
			}
		})
	}
}

// Kill ends what arapuca has started, and arapuca when it goes on; twice is once.
func TestKill(t *testing.T) {
	for _, row := range []struct {
		script string
		want   external.Exited
	}{
		{"sleep 1000; exit $?", external.Exited{Signal: 9}}, // the shell makes 137 of it
		{"while :; do sleep 1000; done", external.Exited{Signal: 9}},
	} {
		exited, _, err := launch(t, row.script, func(p external.Process) {
			_ = p.Kill()
			_ = p.Kill()
		})
		if exited != row.want || err != nil {
			t.Errorf("%s: %+v, %v; want %+v", row.script, exited, err, row.want)
		}
	}
}

func TestSignal(t *testing.T) {
	exited, _, err := launch(t, `trap 'exit 7' TERM; echo here >&2; while :; do sleep 0.01; done`, func(p external.Process) {
		if err := p.Signal(syscall.SIGHUP); err == nil {
			t.Error("one that arapuca does not pass on")
		}
		for len(children(p.PID())) == 0 { // then the trap is set
		}
		_ = p.Signal(syscall.SIGTERM)
	})
	if (exited != external.Exited{Code: 7}) || err != nil {
		t.Errorf("%+v, %v", exited, err)
	}
	b := Backend{Path: "/nowhere/arapuca"}
	if _, err := b.Launch(t.Context(), external.Launch{Path: "/bin/true"}, nil, nil, nil); err == nil {
		t.Error("nothing was started")
	}
}
