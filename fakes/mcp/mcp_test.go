package mcp_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	fake "bridgecheck/fakes/mcp"
	"bridgecheck/fakes/process"
)

func TestToolsAndAnnouncements(t *testing.T) {
	log := filepath.Join(t.TempDir(), "log")
	p := start(t, "--name", "jira", "--nonce", "n1", "--announce", log)
	p.say(1, "initialize", hello)
	p.answer()
	for _, c := range []struct{ tool, arguments, want string }{
		{"echo", `{"text":"hé\nllo"}`, `hé\nllo`},
		{"whoami", `{}`, `\"nonce\":\"n1\"`},
		{"whoami", `{}`, fmt.Sprintf(`\"pid\":%d`, p.cmd.Process.Pid)},
		{"env", `{"name":"FAKE_SECRET"}`, `"s3"`},
		{"env", `{"name":"NOT_THERE"}`, `"isError":true`},
		{"sleep", `{"ms":1}`, `slept`},
	} {
		p.call(2, c.tool, c.arguments)
		if got := p.answer(); !strings.Contains(got, c.want) {
			t.Errorf("%s %s: %s lacks %s", c.tool, c.arguments, got, c.want)
		}
	}
	_ = p.stdin.Close()
	if err := p.wait(); err != nil {
		t.Errorf("end of input: %v", err)
	}
	text, _ := os.ReadFile(log)
	events := strings.Split(strings.TrimSpace(string(text)), "\n")
	pid := p.cmd.Process.Pid
	if events[0] != fmt.Sprintf("started %d jira", pid) || events[1] != "request initialize" ||
		events[len(events)-1] != fmt.Sprintf("stopped %d eof", pid) {
		t.Errorf("announced %q", events)
	}
}

func TestEndsAsTold(t *testing.T) {
	t.Run("at start", func(t *testing.T) {
		p := start(t, "--die-at-start", "7", "--name", "crm")
		if code := exitCode(p.wait()); code != 7 || !strings.Contains(p.stderr.String(), "crm: cannot start") {
			t.Errorf("code %d, stderr %q", code, p.stderr.String())
		}
	})
	t.Run("in a call", func(t *testing.T) {
		p := start(t, "--code", "9")
		p.call(1, "die", `{}`)
		if code := exitCode(p.wait()); code != 9 {
			t.Errorf("code %d", code)
		}
	})
	for _, name := range []string{"SIGKILL", "SIGSEGV", "SIGTERM", "SIGQUIT"} {
		t.Run(name, func(t *testing.T) {
			p := start(t, "--signal", name)
			p.call(1, "die", `{}`)
			var exit *exec.ExitError
			want, _ := process.Signal(name)
			if err := p.wait(); !errors.As(err, &exit) || exit.Sys().(syscall.WaitStatus).Signal() != want {
				t.Errorf("ended with %v", err)
			}
		})
	}
}

func TestSilence(t *testing.T) {
	t.Run("mute", func(t *testing.T) {
		p := start(t, "--mute")
		p.say(1, "initialize", hello)
		_ = p.stdin.Close()
		if got := p.answer(); got != "" {
			t.Errorf("a mute server said %s", got)
		}
	})
	t.Run("after two", func(t *testing.T) {
		p := start(t, "--hang-after", "2")
		p.say(1, "initialize", hello)
		p.say(2, "ping", `{}`)
		p.say(3, "ping", `{}`)
		for range 2 {
			if got := p.answer(); got == "" {
				t.Fatal("silent too early")
			}
		}
		_ = p.stdin.Close()
		if got := p.answer(); got != "" {
			t.Errorf("answered a third: %s", got)
		}
	})
}

func TestErasAndDiscover(t *testing.T) {
	const found, unknown = `"supportedVersions"`, `-32601`
	for _, c := range []struct{ args, method, params, want string }{
		{"--era=both", "server/discover", discover, found},
		{"--era=both", "initialize", hello, `"2025-11-25"`},
		{"--era=legacy", "server/discover", discover, unknown},
		{"--era=legacy", "initialize", hello, `"2025-11-25"`},
		{"--era=modern", "server/discover", discover, found},
		{"--era=modern", "initialize", hello, unknown},
	} {
		t.Run(c.args+" "+c.method, func(t *testing.T) {
			p := start(t, c.args)
			p.say(1, c.method, c.params)
			if got := p.answer(); !strings.Contains(got, c.want) {
				t.Errorf("%s lacks %s", got, c.want)
			}
		})
	}
	for _, manner := range []string{"ignore", "flood"} {
		t.Run(manner, func(t *testing.T) {
			p := start(t, "--discover", manner)
			p.say(1, "server/discover", discover)
			p.say(2, "initialize", hello)
			if got := p.answer(); !strings.Contains(got, `"id":2`) {
				t.Errorf("first answer %s", got)
			}
			_ = p.stdin.Close()
			_ = p.wait()
			if flooded := p.stderr.Len() >= 1<<20; flooded != (manner == "flood") {
				t.Errorf("%d bytes on stderr", p.stderr.Len())
			}
		})
	}
	p := start(t, "--discover", "die")
	p.say(1, "server/discover", discover)
	if code := exitCode(p.wait()); code != 1 {
		t.Errorf("die: code %d", code)
	}
}

func TestNoise(t *testing.T) {
	p := start(t, "--garbage", "3", "--stderr-bytes", "100000")
	for range 3 {
		if line := p.answer(); json.Valid([]byte(line)) {
			t.Errorf("%q is JSON", line)
		}
	}
	p.say(1, "initialize", hello)
	if line := p.answer(); !json.Valid([]byte(line)) {
		t.Errorf("%q is no JSON", line)
	}
	_ = p.stdin.Close()
	_ = p.wait()
	if p.stderr.Len() != 100000 {
		t.Errorf("%d bytes on stderr", p.stderr.Len())
	}
	endless := start(t, "--garbage-forever")
	for range 10 {
		endless.answer()
	}
}

func TestStubborn(t *testing.T) {
	log := filepath.Join(t.TempDir(), "log")
	p := start(t, "--ignore-term", "--ignore-eof", "--announce", log)
	p.say(1, "initialize", hello)
	p.answer()
	_ = p.cmd.Process.Signal(syscall.SIGTERM)
	p.say(2, "ping", `{}`)
	p.answer()
	_ = p.stdin.Close()
	select {
	case err := <-p.ended:
		t.Errorf("ended at the end of input: %v", err)
	case <-time.After(100 * time.Millisecond): // nothing tells that a process stays
	}
	polite := start(t)
	polite.say(1, "initialize", hello)
	polite.answer()
	_ = polite.cmd.Process.Signal(syscall.SIGTERM)
	if err := polite.wait(); err != nil {
		t.Errorf("SIGTERM: %v", err)
	}
}

func TestForksAreFoundByTheirMark(t *testing.T) {
	mark := fmt.Sprintf("mark-%d", os.Getpid())
	p := start(t, "--fork", "child", "--fork", "double", "--fork", "setsid", "--fork", "hold-pipe", "--mark", mark)
	p.say(1, "initialize", hello)
	p.answer()
	pids := marked(mark)
	if len(pids) != 4 {
		t.Errorf("%d sleepers, want 4", len(pids))
	}
	_ = p.stdin.Close()
	held := false
	select {
	case <-p.ended:
	case <-time.After(100 * time.Millisecond): // the pipe stays open: that is the point
		held = true
	}
	if !held {
		t.Error("no sleeper holds the pipe")
	}
	for _, pid := range pids {
		_ = syscall.Kill(pid, syscall.SIGKILL)
	}
	_ = p.wait()
}

// marked finds the sleepers with the mark in their arguments.
func marked(mark string) []int {
	var pids []int
	entries, _ := filepath.Glob("/proc/[0-9]*/cmdline")
	for _, path := range entries {
		text, _ := os.ReadFile(path)
		args := strings.Split(string(text), "\x00")
		if len(args) > 2 && args[1] == "sleep-forever" && slices.Contains(args[2:], mark) {
			var pid int
			_, _ = fmt.Sscanf(path, "/proc/%d/", &pid)
			pids = append(pids, pid)
		}
	}
	return pids
}

func TestParseRefuses(t *testing.T) {
	for _, args := range []string{
		"--era old", "--discover loud", "--fork twice", "--signal SIGNOPE", "stray",
		"--http 127.0.0.1:0 --hang-after 1", "--http 127.0.0.1:0 --garbage 1", "--nope",
	} {
		if _, err := fake.Parse(strings.Fields(args), io.Discard); err == nil {
			t.Errorf("%s: accepted", args)
		}
	}
	if o, err := fake.Parse(nil, io.Discard); err != nil || o.DieAtStart >= 0 || o.HangAfter >= 0 {
		t.Errorf("defaults: %+v, %v", o, err)
	}
}
