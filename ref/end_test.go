package ref_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"bridgecheck/ref"
	"bridgecheck/ref/config"
	"bridgecheck/ref/event"
)

// LIF-007: SIGTERM first, SIGKILL for an agent that does not listen.
func TestCancel(t *testing.T) {
	t.Parallel()
	needNamespaces(t)
	for _, row := range []struct {
		behaviour string
		change    func(*ref.Options)
		want      ref.Exit
	}{
		{"wait", nil, ref.Exit{Signal: syscall.SIGTERM, Reason: ref.ReasonSignal}},
		{"trap", nil, ref.Exit{Code: 3, Reason: ref.ReasonSignal}},
		{"refuse", nil, ref.Exit{Signal: syscall.SIGKILL, Reason: ref.ReasonSignal}},
		{"trap", launchedBy(false), ref.Exit{Code: 3, Reason: ref.ReasonSignal}},
		{"refuse", launchedBy(false), ref.Exit{Signal: syscall.SIGKILL, Reason: ref.ReasonSignal}},
	} {
		t.Run(row.behaviour, func(t *testing.T) {
			t.Parallel()
			ctx, cancel := context.WithCancelCause(context.Background())
			out, in, err := os.Pipe()
			if err != nil {
				t.Fatal(err)
			}
			go func() {
				_, _ = io.ReadFull(out, make([]byte, len("waiting\n")))
				cancel(&ref.SignalError{Signal: syscall.SIGTERM})
			}()
			r := phase(ctx, t, config.Spec{Agent: agent(t, row.behaviour), Servers: []config.Server{server(t, "a", "x")}},
				func(o *ref.Options) {
					o.Stdout = in
					if row.change != nil {
						row.change(o)
					}
				})
			wantExit(t, r, row.want)
		})
	}
}

// A phase that is told to end while its servers start ends like one killed.
func TestCancelDuringStart(t *testing.T) {
	ctx, cancel := context.WithCancelCause(context.Background())
	events := newJournal()
	go func() {
		events.await("mode")
		cancel(&ref.SignalError{Signal: syscall.SIGINT})
	}()
	r := phase(ctx, t, config.Spec{Servers: []config.Server{server(t, "a", "mute")}},
		func(o *ref.Options) { o.Events = event.NewRecorder(events) })
	r.journal = events
	wantExit(t, r, ref.Exit{Signal: syscall.SIGINT, Reason: ref.ReasonSignal})
}

// LIF-016
func TestPhaseTimeout(t *testing.T) {
	t.Parallel()
	needNamespaces(t)
	r := phase(context.Background(), t, config.Spec{Agent: agent(t, "wait"), Timeouts: &config.Timeouts{PhaseMS: 300}})
	wantExit(t, r, ref.Exit{Code: ref.CodeTimeout, Reason: ref.ReasonTimeout})
	if e := r.of("error"); len(e) != 1 || e[0].Stage != "timeout" {
		t.Errorf("error = %+v", e)
	}
	r = phase(context.Background(), t, config.Spec{Servers: []config.Server{server(t, "a", "mute")}, Timeouts: &config.Timeouts{PhaseMS: 300}})
	wantExit(t, r, ref.Exit{Code: ref.CodeTimeout, Reason: ref.ReasonTimeout})
}

// LIF-006, LIF-015: commands on the control stream, without an agent.
func TestControl(t *testing.T) {
	ours, theirs := net.Pipe()
	done := make(chan run, 1)
	hang := server(t, "hung", "hang")
	go func() {
		done <- phase(context.Background(), t, config.Spec{Servers: []config.Server{server(t, "jira", "x"), hang}},
			func(o *ref.Options) { o.Control = theirs })
	}()
	replies := json.NewDecoder(ours)
	for i, row := range []struct{ command, want string }{
		{`"op":"health","name":"jira"`, "true "},
		{`"op":"start","name":"jira"`, "false already-running"},
		{`"op":"start","name":"nobody"`, "false unknown-server"},
		{`"op":"stop","name":"nobody"`, "false unknown-server"},
		{`"op":"stop","name":"jira"`, "true  eof"},
		{`"op":"stop","name":"jira"`, "false not-running"},
		{`"op":"health","name":"jira"`, "false not-running"},
		{`"op":"start","name":"jira"`, "true "},
		{`"op":"health","name":"hung","timeout_ms":100`, "false timeout"},
		{`"op":"dance"`, "false bad-command"},
		{`"op":"stop-all"`, "true  [hung:eof jira:eof]"},
		{`"op":"stop-all"`, "true "},
		{`"op":"quit"`, "true "},
	} {
		fmt.Fprintf(ours, `{"id":%d,%s}`+"\n", i+1, row.command)
		if got := reply(t, replies, i+1); got != row.want {
			t.Errorf("%s: %q, want %q", row.command, got, row.want)
		}
	}
	wantExit(t, <-done, ref.Exit{Reason: ref.ReasonQuit})
	_ = ours.Close()
	_ = theirs.Close()
}

// reply is "ok reason how" of the reply with the id.
func reply(t *testing.T, replies *json.Decoder, id int) string {
	t.Helper()
	var r struct {
		ID      int
		OK      bool
		Reason  string
		How     string
		Results []struct{ Name, How string }
	}
	if err := replies.Decode(&r); err != nil || r.ID != id {
		t.Fatalf("reply = %+v, %v; want one with id %d", r, err, id)
	}
	text := fmt.Sprintf("%v %s", r.OK, r.Reason)
	if r.How != "" {
		text += " " + r.How
	}
	if len(r.Results) > 0 {
		names := map[string]string{}
		for _, one := range r.Results {
			names[one.Name] = one.How
		}
		text += fmt.Sprintf(" [hung:%s jira:%s]", names["hung"], names["jira"])
	}
	return text
}

// The end of the control stream ends the phase, agent and all.
func TestEndOfControl(t *testing.T) {
	t.Parallel()
	needNamespaces(t)
	ours, theirs := net.Pipe()
	events := newJournal()
	go func() {
		events.await("ready")
		_ = ours.Close()
	}()
	r := phase(context.Background(), t, config.Spec{Agent: agent(t, "wait")}, func(o *ref.Options) {
		o.Control, o.Events = theirs, event.NewRecorder(events)
	})
	r.journal = events
	wantExit(t, r, ref.Exit{Signal: syscall.SIGTERM, Reason: ref.ReasonQuit})
}

// fakeBridge is a bridge to be killed.
func fakeBridge(runtime string) int {
	path, err := os.Executable()
	if err != nil {
		return 1
	}
	exit, _ := ref.Run(context.Background(), config.Spec{
		Servers: []config.Server{{Name: "a", Placement: "host", Command: path, Args: []string{"fake-server", "x"}, Env: quick}},
		Agent:   &config.Agent{Path: path, Args: []string{"fake-agent", "refuse"}},
		Paths:   &config.Paths{Runtime: runtime},
	}, ref.Options{Stdout: os.Stdout})
	return exit.Status()
}

// LIF-008: SIGKILL of the bridge at any moment leaves no process and no file.
// Everything it started comes to this process, its subreaper, and is awaited.
func TestSIGKILLOfTheBridge(t *testing.T) {
	needNamespaces(t)
	if err := unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); err != nil {
		t.Skip("cannot become a subreaper:", err)
	}
	t.Cleanup(func() { _ = unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 0, 0, 0, 0) })
	base := t.TempDir()
	const rounds = 12
	ran := 0
	for round := range rounds {
		cmd := exec.Command(self(t), "fake-bridge", base)
		out, err := cmd.StdoutPipe()
		if err == nil {
			err = cmd.Start()
		}
		if err != nil {
			t.Fatal(err)
		}
		if round%4 == 0 { // the agent runs
			if _, err := io.ReadFull(out, make([]byte, len("waiting\n"))); err != nil {
				t.Fatal(err)
			}
			ran++
		} else {
			time.Sleep(rand.N(60 * time.Millisecond))
		}
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		deadline := time.AfterFunc(10*time.Second, func() { panic("something of the bridge lives on") })
		for {
			if _, err := unix.Wait4(-1, nil, 0, nil); errors.Is(err, unix.ECHILD) {
				break
			}
		}
		deadline.Stop()
		if left, err := os.ReadDir(base); err != nil || len(left) > 0 {
			t.Fatalf("round %d: %v, %v is left", round, left, err)
		}
	}
	if ran == 0 {
		t.Error("the agent never ran: the control failed")
	}
}

// runtimeAt runs a phase whose runtime path is made by plant.
func runtimeAt(t *testing.T, spec config.Spec, plant func(dir string) string) run {
	t.Helper()
	spec.Paths = &config.Paths{Runtime: plant(t.TempDir())}
	r := run{journal: newJournal()}
	r.exit, r.err = ref.Run(context.Background(), spec, ref.Options{Events: event.NewRecorder(r.journal)})
	return r
}

func plantLink(t *testing.T, dir string) string {
	t.Helper()
	victim, link := filepath.Join(dir, "victim"), filepath.Join(dir, "link")
	if err := errors.Join(os.Mkdir(victim, 0o700), os.Symlink(victim, link)); err != nil {
		t.Fatal(err)
	}
	return link
}
