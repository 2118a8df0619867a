package event

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"
)

// TestEmit: one write a line, the head in front, durations as milliseconds.
func TestEmit(t *testing.T) {
	code := 0
	for _, tt := range []struct {
		event Event
		want  string
	}{
		{ServerStopped{Server: "jira", How: "term", Took: 1500 * time.Microsecond}, `"event":"server-stopped","took_ms":1,"server":"jira","how":"term"}`},
		{ServerProgress{Server: "jira"}, `"event":"server-progress","took_ms":0,"server":"jira"}`},
		{Exit{Code: &code, Reason: "agent"}, `"event":"exit","code":0,"reason":"agent"}`},
		{Exit{Signal: "SIGKILL", Reason: "agent"}, `"event":"exit","signal":"SIGKILL","reason":"agent"}`},
		{Ready{V4: true}, `"event":"ready","doors":null,"v4":true,"v6":false}`},
	} {
		var out bytes.Buffer
		r := NewRecorder(&out)
		r.Emit(tt.event)
		line := out.String()
		if strings.Count(line, "\n") != 1 || !strings.HasSuffix(line, tt.want+"\n") || !json.Valid([]byte(line)) {
			t.Errorf("%s gave %q, wanted …%s", tt.event.Kind(), line, tt.want)
		}
		if r.Err() != nil {
			t.Error(r.Err())
		}
	}
}

// TestConcurrent: lines never mix.
func TestConcurrent(t *testing.T) {
	var out bytes.Buffer
	r := NewRecorder(&out)
	var wg sync.WaitGroup
	for range 50 {
		wg.Go(func() { r.Emit(Decision{Target: "a.example.test:443", Verdict: "deny"}) })
	}
	wg.Wait()
	lines := strings.Split(strings.TrimSuffix(out.String(), "\n"), "\n")
	if len(lines) != 50 {
		t.Fatalf("%d lines", len(lines))
	}
	for _, line := range lines {
		if !json.Valid([]byte(line)) {
			t.Errorf("a broken line: %q", line)
		}
	}
}

type full struct{ err error }

func (f full) Write([]byte) (int, error) { return 0, f.err }

// TestLostEvent: an event that could not be written is remembered, the first of
// several, and the other writers still get it.
func TestLostEvent(t *testing.T) {
	disk := errors.New("no space left on device")
	var out bytes.Buffer
	r := NewRecorder(full{disk}, &out)
	select {
	case <-r.Lost():
		t.Error("an event is lost before there is one")
	default:
	}
	r.Emit(Exit{Reason: "agent"})
	<-r.Lost()
	r.Emit(Exit{Reason: "quit"})
	if !errors.Is(r.Err(), disk) || strings.Count(out.String(), "\n") != 2 {
		t.Errorf("got %v and %q", r.Err(), out.String())
	}
}

// TestNilRecorder drops everything: a user of the library need not have one.
func TestNilRecorder(t *testing.T) {
	var r *Recorder
	r.Emit(Exit{Reason: "agent"})
	if r.Err() != nil {
		t.Error(r.Err())
	}
}
