package sandbox_test

import (
	"errors"
	"reflect"
	"strings"
	"testing"

	"bridgecheck/ref/sandbox"
)

func TestEnvironment(t *testing.T) {
	base := []string{
		"PATH=/usr/bin", "HOME=/home/u", "LC_ALL=C", "LCX=1", "TERM=xterm", "TZ=UTC", "XTERM=1",
		"LD_PRELOAD=/x.so", "LD_LIBRARY_PATH=/x", "DYLD_INSERT_LIBRARIES=/x", "BASH_ENV=/x", "NODE_OPTIONS=--require=/x",
		"PYTHONPATH=/x", "PYTHONSTARTUP=/x", "GIT_SSH_COMMAND=/x", "PERL5OPT=-Mx", "RUBYOPT=-rx", "JAVA_TOOL_OPTIONS=x",
		"HTTP_PROXY=http://x", "https_proxy=http://x", "NO_PROXY=*", "no_proxy=*", "ALL_PROXY=socks5://x",
		"AWS_SECRET_ACCESS_KEY=x", "GITHUB_TOKEN=x", "SSH_AUTH_SOCK=/x", "DBUS_SESSION_BUS_ADDRESS=x", "TMPDIR=/x",
		"BRIDGE_TOKEN=x", "GORACE=x", "malformed",
	}
	agent := map[string]string{
		"TZ": "Europe/Berlin", "NODE_OPTIONS": "--max-old-space-size=512", "NO_PROXY": "127.0.0.1",
		"LD_PRELOAD": "/y.so", "BASH_ENV": "/y", "": "x", "A=B": "x", "NUL": "a\x00b", "EMPTY": "",
	}
	want := []string{
		"EMPTY=", "HOME=/home/u", "LC_ALL=C", "NODE_OPTIONS=--max-old-space-size=512", "NO_PROXY=127.0.0.1",
		"PATH=/usr/bin", "TERM=xterm", "TZ=Europe/Berlin",
	}
	if got := sandbox.Environment(agent, base); !reflect.DeepEqual(got, want) {
		t.Errorf("got  %q\nwant %q", got, want)
	}
}

func TestCheckEnvironment(t *testing.T) {
	for _, row := range []struct {
		name, value string
		refused     bool
	}{
		{"LD_PRELOAD", "/x", true},
		{"LD_", "", true},
		{"LD", "x", false},
		{"OLD_X", "x", false},
		{"DYLD_X", "", true},
		{"BASH_ENV", "", true},
		{"BASH_ENVIRONMENT", "", false},
		{"ENV", "", true},
		{"NODE_ENV", "x", false},
		{"BASH_FUNC_ls%%", "() { :; }", true},
		{"PYTHONUNBUFFERED", "1", false},
		{"GIT_AUTHOR_NAME", "x", false},
		{"", "x", true},
		{"A=B", "x", true},
		{"A", "x\x00", true},
		{"A", "x=y", false},
	} {
		err := sandbox.CheckEnvironment(map[string]string{row.name: row.value, "FINE": "1"})
		var refusal *sandbox.Refusal
		if errors.As(err, &refusal) != row.refused {
			t.Errorf("%q=%q: got %v, refused should be %v", row.name, row.value, err, row.refused)
		}
		if row.refused && !strings.Contains(err.Error(), "leave it out") {
			t.Errorf("%q: the reason gives no fix: %v", row.name, err)
		}
	}
}

func TestAgentEnvironment(t *testing.T) {
	needNamespaces(t)
	spec := shell("env")
	spec.Env = []string{"A=1", "PATH=/usr/bin:/bin"}
	t.Setenv("LD_CANARY", "x")
	out, _ := run(t, spec)
	for line := range strings.Lines(out) {
		name, _, _ := strings.Cut(line, "=")
		switch name {
		case "A", "PATH", "PWD", "OLDPWD", "SHLVL", "_": // the last four are the shell's own
		default:
			t.Errorf("the agent has %s", line)
		}
	}
}
