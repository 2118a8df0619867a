package mcpserver_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"bridgecheck/ref/mcpserver"
)

func TestStartThatFails(t *testing.T) {
	t.Parallel()
	short := func(c mcpserver.Config) mcpserver.Config { c.StartTimeout = 300 * time.Millisecond; return c }
	for _, row := range []struct {
		title string
		cfg   mcpserver.Config
		want  []string
	}{
		{"missing program", mcpserver.Config{Command: "no-such-program"}, []string{"no-such-program", "not found"}},
		{"missing file", mcpserver.Config{Command: "/no/such/program"}, []string{"/no/such/program", "no such file"}},
		{"not executable", mcpserver.Config{Command: "/etc/passwd"}, []string{"/etc/passwd", "permission denied"}},
		{"no directory", mcpserver.Config{Command: "true", Dir: "/no/dir"}, []string{"/no/dir"}},
		{"exits", config(t, "exit-early"), []string{"code 9", "line 24"}},
		{"exits with success", mcpserver.Config{Command: "true"}, []string{"code 0"}},
		{"never answers", short(config(t, "mute")), []string{"300ms"}},
		{"prints garbage", config(t, "garbage"), []string{"1000 lines"}},
		{"url without a server", short(mcpserver.Config{URL: "http://127.0.0.1:1/mcp"}), []string{"http://127.0.0.1:1/mcp", "refused"}},
	} {
		t.Run(row.title, func(t *testing.T) {
			m, _, _ := newManager(t)
			_, err := m.Start(t.Context(), "bad", row.cfg)
			var e *mcpserver.StartError
			if !errors.As(err, &e) || e.Server != "bad" {
				t.Fatalf("error is %v", err)
			}
			for _, want := range append(row.want, `"bad"`) {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("%q is not in the error:\n%v", want, err)
				}
			}
			if lines := strings.Split(e.StderrTail, "\n"); row.title == "exits" && (len(lines) != 20 || lines[0] != "line 5") {
				t.Errorf("the tail has %d lines from %q", len(lines), lines[0])
			}
			if err := m.Stop("bad"); !errors.Is(err, mcpserver.ErrNotRunning) {
				t.Errorf("stop after the failure: %v", err)
			}
		})
	}
}

func TestConfigurationThatIsRefused(t *testing.T) {
	t.Parallel()
	m, _, _ := newManager(t)
	for _, row := range []struct {
		name string
		cfg  mcpserver.Config
	}{
		{"ok", mcpserver.Config{}},
		{"ok", mcpserver.Config{Command: "x", URL: "http://127.0.0.1:1"}},
		{"ok", mcpserver.Config{URL: "ftp://x"}},
		{"ok", mcpserver.Config{URL: "unix:relative"}},
		{"ok", mcpserver.Config{Command: "true", Containment: "jail"}},
		{"ok", mcpserver.Config{Command: "true", Env: map[string]string{"A=B": ""}}},
		{"../up", mcpserver.Config{Command: "true"}},
		{"", mcpserver.Config{Command: "true"}},
		{strings.Repeat("n", 64), mcpserver.Config{Command: "true"}},
	} {
		if _, err := m.Start(t.Context(), row.name, row.cfg); err == nil {
			t.Errorf("%q %+v was accepted", row.name, row.cfg)
		}
	}
}

func TestSocketDirectoryThatIsRefused(t *testing.T) {
	t.Parallel()
	good := t.TempDir()
	open, link := filepath.Join(good, "open"), filepath.Join(good, "link")
	file, own := filepath.Join(good, "file"), filepath.Join(good, "own")
	for _, err := range []error{
		os.Mkdir(open, 0o755), os.Mkdir(own, 0o700), os.Symlink(own, link), os.WriteFile(file, nil, 0o700),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	for _, dir := range []string{open, link, file, "/nonexistent", filepath.Join(own, strings.Repeat("d", 100))} {
		m := mcpserver.New(mcpserver.Options{Dir: dir})
		if _, err := m.Start(t.Context(), "s", config(t, "")); err == nil {
			t.Errorf("%s was accepted", dir)
			_ = m.StopAll()
		}
	}
	long := filepath.Join(own, strings.Repeat("d", 100))
	if err := os.Mkdir(long, 0o700); err != nil {
		t.Fatal(err)
	}
	_, err := mcpserver.New(mcpserver.Options{Dir: long}).Start(t.Context(), "s", config(t, ""))
	if err == nil || !strings.Contains(err.Error(), "107") {
		t.Errorf("a path that is too long: %v", err)
	}
}

func TestStopDuringStart(t *testing.T) {
	t.Parallel()
	m, _, _ := newManager(t)
	result := make(chan error, 1)
	go func() {
		_, err := m.Start(context.Background(), "s", config(t, "mute"))
		result <- err
	}()
	eventually(t, func() bool { return !errors.Is(m.Stop("s"), mcpserver.ErrUnknown) })
	if err := <-result; !errors.Is(err, mcpserver.ErrStopped) {
		t.Errorf("the start that was stopped: %v", err)
	}
	start(t, m, "s", "")
}

func TestCancelDuringStart(t *testing.T) {
	t.Parallel()
	m, _, _ := newManager(t)
	ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer cancel()
	if _, err := m.Start(ctx, "s", config(t, "mute")); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("the start that was cancelled: %v", err)
	}
}

func TestSlowStartTellsItsProgress(t *testing.T) {
	t.Parallel()
	m, events, _ := newManager(t)
	start(t, m, "s", "slow")
	events.await(t, "server-progress", `"s"`)
}

func TestServersThatTheEraProbeUpsets(t *testing.T) {
	t.Parallel()
	for _, words := range []string{"discover-ignored", "discover-dies", "discover-hangs", "discover-floods", "discover-garbage", "flood-stderr", "banner"} {
		t.Run(words, func(t *testing.T) {
			t.Parallel()
			m, events, _ := newManager(t)
			cfg := config(t, words)
			if words == "discover-hangs" {
				cfg.StartTimeout = 2 * time.Second
			}
			socket, err := m.Start(t.Context(), "s", cfg)
			if err != nil {
				t.Fatal(err)
			}
			if strings.Contains(events.String(), "server-exited") {
				t.Errorf("the probe's victim was reported:\n%s", events)
			}
			c := httpClient(t, socket)
			body := post(c, "", stateless(`"id":1,"method":"server/discover"`))
			if !containsAll(body, []string{"400", "-32601"}) {
				t.Errorf("server/discover got %s", body)
			}
			if body := post(c, session(t, socket), `{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"echo"}}`); !strings.Contains(body, `"id":7`) {
				t.Errorf("echo got %s", body)
			}
		})
	}
}

func TestEnvironmentOfTheServer(t *testing.T) {
	t.Setenv("SECRET_OF_THE_CALLER", "s3cr3t")
	t.Setenv("LANG", "C.UTF-8")
	m, _, _ := newManager(t)
	cfg := config(t, "")
	cfg.Env["TOKEN"] = "declared"
	socket, err := m.Start(t.Context(), "s", cfg)
	if err != nil {
		t.Fatal(err)
	}
	body := post(httpClient(t, socket), session(t, socket), `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"env"}}`)
	if !containsAll(body, []string{"TOKEN=declared", "LANG=C.UTF-8", "PATH="}) || strings.Contains(body, "s3cr3t") {
		t.Errorf("environment is %s", body)
	}
}
