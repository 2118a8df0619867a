package mcpserver_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"bridgecheck/ref/event"
	"bridgecheck/ref/mcpserver"
)

func TestMain(m *testing.M) {
	mcpserver.Main()
	switch os.Getenv("FAKE") {
	case "":
	case "fake oracle":
		oracleMain()
	case "bridge":
		bridgeMain()
	default:
		fakeMain()
	}
	goleak.VerifyTestMain(m)
}

// log collects the events of one manager.
type log struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (l *log) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.buf.Write(p)
}

func (l *log) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.buf.String()
}

// await waits for an event that holds all the parts.
func (l *log) await(t *testing.T, parts ...string) {
	t.Helper()
	deadline := time.Now().Add(5 * time.Second)
	for {
		for line := range strings.Lines(l.String()) {
			if containsAll(line, parts) {
				return
			}
		}
		if time.Now().After(deadline) {
			t.Fatalf("no event with %q in:\n%s", parts, l)
		}
		time.Sleep(5 * time.Millisecond)
	}
}

func containsAll(s string, parts []string) bool {
	for _, p := range parts {
		if !strings.Contains(s, p) {
			return false
		}
	}
	return true
}

func newManager(t *testing.T, change ...func(*mcpserver.Options)) (*mcpserver.ServerManager, *log, string) {
	t.Helper()
	dir, err := os.MkdirTemp("", "mgr") // t.TempDir's names are too long for a socket
	if err != nil {
		t.Fatal(err)
	}
	events := &log{}
	opts := mcpserver.Options{Dir: dir, Events: event.NewRecorder(events)}
	for _, f := range change {
		f(&opts)
	}
	m := mcpserver.New(opts)
	t.Cleanup(func() {
		if err := m.StopAll(); err != nil {
			t.Error(err)
		}
		if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
			t.Errorf("left in the socket directory: %v, %v", left, err)
		}
		_ = os.RemoveAll(dir)
	})
	return m, events, dir
}

// config is this test binary as a fake server.
func config(t testing.TB, words string) mcpserver.Config {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return mcpserver.Config{
		Command: self, Env: map[string]string{"FAKE": "fake " + words},
		StopGrace: 200 * time.Millisecond, StartTimeout: 20 * time.Second,
	}
}

// start starts a fake or fails the test.
func start(t *testing.T, m *mcpserver.ServerManager, name, words string) string {
	t.Helper()
	socket, err := m.Start(t.Context(), name, config(t, words))
	if err != nil {
		t.Fatal(err)
	}
	return socket
}

// httpClient speaks HTTP on a Unix socket.
func httpClient(t testing.TB, socket string) *http.Client {
	transport := &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		var d net.Dialer
		return d.DialContext(ctx, "unix", socket)
	}}
	t.Cleanup(transport.CloseIdleConnections)
	return &http.Client{Transport: transport}
}

func TestStartReturnsASocketOfTheCallersOwn(t *testing.T) {
	m, events, dir := newManager(t)
	socket := start(t, m, "jira", "")
	if want := filepath.Join(dir, "jira.sock"); socket != want {
		t.Errorf("socket is %s, want %s", socket, want)
	}
	info, err := os.Stat(socket)
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("mode is %v, %v", info.Mode(), err)
	}
	events.await(t, `"server-started"`, `"jira"`, socket, `"containment":"`)
	if err := m.HealthCheck(t.Context(), "jira"); err != nil {
		t.Error(err)
	}
}

func TestNamesThatAreInUseUnknownOrStopped(t *testing.T) {
	m, _, _ := newManager(t)
	start(t, m, "a", "")
	start(t, m, "b", "")
	if _, err := m.Start(t.Context(), "a", config(t, "")); !errors.Is(err, mcpserver.ErrRunning) {
		t.Errorf("second start: %v", err)
	}
	for name, want := range map[string]error{"c": mcpserver.ErrUnknown} {
		if err := m.Stop(name); !errors.Is(err, want) {
			t.Errorf("stop of an unknown server: %v", err)
		}
		if err := m.HealthCheck(t.Context(), name); !errors.Is(err, want) {
			t.Errorf("health of an unknown server: %v", err)
		}
	}
	if err := m.Stop("a"); err != nil {
		t.Error(err)
	}
	if how := m.StopHow("a"); how != "eof" {
		t.Errorf("a was stopped by %q", how)
	}
	if err := m.Stop("a"); !errors.Is(err, mcpserver.ErrNotRunning) {
		t.Errorf("second stop: %v", err)
	}
	if err := m.HealthCheck(t.Context(), "a"); !errors.Is(err, mcpserver.ErrNotRunning) {
		t.Errorf("health of a stopped server: %v", err)
	}
	start(t, m, "a", "")
	for range 2 {
		if err := m.StopAll(); err != nil {
			t.Error(err)
		}
	}
}

func TestStartThatFails(t *testing.T) {
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

func TestStopTellsWhatEndedTheServer(t *testing.T) {
	for words, want := range map[string]string{
		"": "eof", "ignore-eof": "term", "ignore-eof ignore-term": "kill", "children": "eof",
	} {
		t.Run(words, func(t *testing.T) {
			m, events, _ := newManager(t)
			cfg := config(t, words)
			mark := marker(t)
			cfg.Env["MARKER"] = mark
			if _, err := m.Start(t.Context(), "s", cfg); err != nil {
				t.Fatal(err)
			}
			began := time.Now()
			if err := m.Stop("s"); err != nil {
				t.Error(err)
			}
			if took := time.Since(began); took > 3*time.Second {
				t.Errorf("the stop took %s", took)
			}
			if how := m.StopHow("s"); how != want {
				t.Errorf("stopped by %q, want %q", how, want)
			}
			events.await(t, `"server-stopped"`, `"how":"`+want+`"`)
			if strings.Contains(events.String(), "server-exited") {
				t.Errorf("a stop was reported as an exit:\n%s", events)
			}
			if left := holders(t, mark); len(left) > 0 {
				t.Errorf("left after the stop: %v", left)
			}
		})
	}
}

// marker is a file that the fake's children hold open as descriptor 9.
func marker(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "marker")
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func holders(t *testing.T, path string) (out []string) {
	t.Helper()
	fds, err := filepath.Glob("/proc/[0-9]*/fd/9")
	if err != nil {
		t.Fatal(err)
	}
	for _, fd := range fds {
		if to, err := os.Readlink(fd); err == nil && to == path {
			out = append(out, fd)
		}
	}
	return out
}

func TestHealthTellsHungFromDead(t *testing.T) {
	m, events, _ := newManager(t)
	good, hung, dead := start(t, m, "good", ""), start(t, m, "hung", ""), start(t, m, "dead", "")
	go post(httpClient(t, hung), session(t, hung), `{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"hang-all"}}`)
	body := post(httpClient(t, dead), session(t, dead), `{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"die"}}`)
	if !containsAll(body, []string{`"id":2`, `-32000`, `\"dead\"`, "code 3"}) {
		t.Errorf("the call that killed the server got %s", body)
	}
	events.await(t, "server-exited", `"dead"`, `"code":3`)
	check := func(name string) error {
		ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
		defer cancel()
		return m.HealthCheck(ctx, name)
	}
	if err := check("dead"); !errors.Is(err, mcpserver.ErrDead) {
		t.Errorf("dead: %v", err)
	}
	eventually(t, func() bool { return errors.Is(check("hung"), mcpserver.ErrHung) })
	if err := check("good"); err != nil {
		t.Errorf("good: %v", err)
	}
	_ = good
	events.await(t, "server-unhealthy", `"hung"`, `"reason":"hung"`)
	events.await(t, "server-unhealthy", `"dead"`, `"reason":"dead"`)
}

func TestHangingServerIsReportedUnasked(t *testing.T) {
	m, events, _ := newManager(t, func(o *mcpserver.Options) { o.HealthEvery = 50 * time.Millisecond })
	start(t, m, "good", "")
	hung := start(t, m, "hung", "")
	go post(httpClient(t, hung), session(t, hung), `{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"hang-all"}}`)
	events.await(t, "server-unhealthy", `"hung"`, `"reason":"hung"`)
	time.Sleep(200 * time.Millisecond) // several more checks
	if n := strings.Count(events.String(), "server-unhealthy"); n != 1 {
		t.Errorf("%d reports:\n%s", n, events)
	}
}

func eventually(t *testing.T, f func() bool) {
	t.Helper()
	for end := time.Now().Add(5 * time.Second); !f(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("it did not come to it")
		}
	}
}

func TestStopDuringStart(t *testing.T) {
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
	m, _, _ := newManager(t)
	ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer cancel()
	if _, err := m.Start(ctx, "s", config(t, "mute")); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("the start that was cancelled: %v", err)
	}
}

func TestSlowStartTellsItsProgress(t *testing.T) {
	m, events, _ := newManager(t)
	start(t, m, "s", "slow")
	events.await(t, "server-progress", `"s"`)
}

func TestServersThatTheEraProbeUpsets(t *testing.T) {
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

func TestManyServersStartAndStopTogether(t *testing.T) {
	m, _, _ := newManager(t)
	var wg sync.WaitGroup
	for n := range 8 {
		wg.Go(func() {
			if _, err := m.Start(t.Context(), fmt.Sprintf("s%d", n), config(t, "")); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
}

func TestRoundsLeaveNothing(t *testing.T) {
	m, _, _ := newManager(t)
	count := func() int {
		fds, err := os.ReadDir("/proc/self/fd")
		if err != nil {
			t.Fatal(err)
		}
		return len(fds)
	}
	var before int
	for n := range 12 {
		start(t, m, "s", "")
		if err := m.Stop("s"); err != nil {
			t.Fatal(err)
		}
		if n == 1 {
			before = count()
		}
	}
	if after := count(); after > before {
		t.Errorf("descriptors: %d after 2 rounds, %d after 12", before, after)
	}
	out, err := exec.Command("ps", "--ppid", fmt.Sprint(os.Getpid()), "-o", "args=").Output()
	if err == nil && strings.Contains(string(out), "bridge-server") {
		t.Errorf("processes left:\n%s", out)
	}
}
