package mcpserver_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"bridgecheck/ref/mcpserver"
)

func TestStartReturnsASocketOfTheCallersOwn(t *testing.T) {
	t.Parallel()
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
	t.Parallel()
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

func TestStopTellsWhatEndedTheServer(t *testing.T) {
	t.Parallel()
	for words, want := range map[string]string{
		"": "eof", "ignore-eof": "term", "ignore-eof ignore-term": "kill", "children": "eof",
	} {
		t.Run(words, func(t *testing.T) {
			m, events, _ := newManager(t)
			cfg := config(t, words)
			mark := marker(t)
			cfg.Env["MARKER"] = mark
			if want == "kill" {
				cfg.StopGrace = 100 * time.Millisecond
			}
			if _, err := m.Start(t.Context(), "s", cfg); err != nil {
				t.Fatal(err)
			}
			began := time.Now()
			if err := m.Stop("s"); err != nil {
				t.Error(err)
			}
			if took := time.Since(began); took > 10*time.Second {
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

func TestHealthTellsHungFromDead(t *testing.T) {
	t.Parallel()
	m, events, _ := newManager(t)
	good, hung, dead := start(t, m, "good", ""), start(t, m, "hung", ""), start(t, m, "dead", "")
	go post(httpClient(t, hung), session(t, hung), `{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"hang-all"}}`)
	body := post(httpClient(t, dead), session(t, dead), `{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"die"}}`)
	if !containsAll(body, []string{`"id":2`, `-32000`, `\"dead\"`, "code 3"}) {
		t.Errorf("the call that killed the server got %s", body)
	}
	events.await(t, "server-exited", `"dead"`, `"code":3`)
	check := func(name string) error {
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
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
	t.Parallel()
	const every = 800 * time.Millisecond // also how long a healthy server may take
	m, events, _ := newManager(t, func(o *mcpserver.Options) { o.HealthEvery = every })
	start(t, m, "good", "")
	hung := start(t, m, "hung", "")
	go post(httpClient(t, hung), session(t, hung), `{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"hang-all"}}`)
	events.await(t, "server-unhealthy", `"hung"`, `"reason":"hung"`)
	time.Sleep(2 * every) // two more checks or three
	if n := strings.Count(events.String(), "server-unhealthy"); n != 1 {
		t.Errorf("%d reports:\n%s", n, events)
	}
}

func TestManyServersStartAndStopTogether(t *testing.T) {
	t.Parallel()
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
		if len(childrenOf(t, os.Getpid())) == 0 {
			t.Fatal("control: a server has no process")
		}
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
	if left := childrenOf(t, os.Getpid()); len(left) > 0 {
		t.Errorf("processes left: %v", left)
	}
}
