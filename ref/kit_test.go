package ref_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"maps"
	"os"
	"strings"
	"sync"
	"testing"

	"bridgecheck/ref"
	"bridgecheck/ref/config"
	"bridgecheck/ref/event"
	"bridgecheck/ref/sandbox"
)

// line is an event as it is read back.
type line struct {
	Event, Mode, Level, Reason, Server, Stage, Errno, Verdict, Target, Field, Socket, Signal string
	StderrTail                                                                               string `json:"stderr_tail"`
	Code                                                                                     *int
	Servers, Causes                                                                          []string
	Layers                                                                                   map[string]string
	Doors                                                                                    []event.Door
}

// journal keeps the events of a phase and says when one of a kind has come.
type journal struct {
	mu   sync.Mutex
	text bytes.Buffer
	came *sync.Cond
}

func newJournal() *journal {
	j := &journal{}
	j.came = sync.NewCond(&j.mu)
	return j
}

func (j *journal) Write(p []byte) (int, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	defer j.came.Broadcast()
	return j.text.Write(p)
}

func (j *journal) lines() (all []line) {
	j.mu.Lock()
	defer j.mu.Unlock()
	for text := range strings.SplitSeq(strings.TrimSpace(j.text.String()), "\n") {
		var l line
		if json.Unmarshal([]byte(text), &l) == nil {
			all = append(all, l)
		}
	}
	return all
}

// await returns once an event of the kind was written.
func (j *journal) await(kind string) {
	j.mu.Lock()
	defer j.mu.Unlock()
	for !bytes.Contains(j.text.Bytes(), []byte(`"event":"`+kind+`"`)) {
		j.came.Wait()
	}
}

func (j *journal) of(kind string) (all []line) {
	for _, l := range j.lines() {
		if l.Event == kind {
			all = append(all, l)
		}
	}
	return all
}

// run is one phase in this process.
type run struct {
	exit   ref.Exit
	err    error
	out    string
	stderr string
	*journal
}

// phase runs a phase to its end, with a runtime directory of its own that must
// be gone afterwards.
func phase(ctx context.Context, t testing.TB, spec config.Spec, change ...func(*ref.Options)) run {
	t.Helper()
	return phaseIn(ctx, t, t.TempDir(), spec, change...)
}

func phaseIn(ctx context.Context, t testing.TB, base string, spec config.Spec, change ...func(*ref.Options)) run {
	t.Helper()
	if spec.Paths == nil {
		spec.Paths = &config.Paths{}
	}
	spec.Paths.Runtime = base
	r := run{journal: newJournal()}
	var wg sync.WaitGroup
	out, outText := pipe(t, &wg)
	errOut, errText := pipe(t, &wg)
	opt := ref.Options{Events: event.NewRecorder(r.journal), Stdout: out, Stderr: errOut}
	for _, c := range change {
		c(&opt)
	}
	r.exit, r.err = ref.Run(ctx, spec, opt)
	_ = out.Close()
	_ = errOut.Close()
	wg.Wait()
	r.out, r.stderr = outText.String(), errText.String()
	if left, err := os.ReadDir(base); err != nil || len(left) > 0 {
		t.Errorf("the runtime directory holds %v, %v after the phase", left, err)
	}
	return r
}

func pipe(t testing.TB, wg *sync.WaitGroup) (*os.File, *strings.Builder) {
	t.Helper()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	var text strings.Builder
	wg.Go(func() { _, _ = io.Copy(&text, r); _ = r.Close() })
	return w, &text
}

func self(t testing.TB) string {
	t.Helper()
	path, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// quick keeps the race detector from sleeping a second at every exit.
var quick = map[string]string{"GORACE": "atexit_sleep_ms=0"}

func agent(t testing.TB, args ...string) *config.Agent {
	return &config.Agent{Path: self(t), Args: append([]string{"fake-agent"}, args...), Env: maps.Clone(quick)}
}

func server(t testing.TB, name, behaviour string) config.Server {
	return config.Server{
		Name: name, Placement: "host", Command: self(t), Args: []string{"fake-server", behaviour},
		StartTimeoutMS: 20_000, StopGraceMS: 3000, Env: quick,
	}
}

// sandboxable is nil where this host makes a sandbox, as shown by doing.
var sandboxable = sync.OnceValue(func() error {
	box, err := sandbox.Launch(context.Background(), sandbox.Spec{Path: "/bin/true", Landlock: true})
	if err != nil {
		return err
	}
	_ = box.Kill()
	_, _ = box.Wait()
	return nil
})

// needNamespaces skips where this host refuses them.
func needNamespaces(t testing.TB) {
	t.Helper()
	var f *sandbox.Failure
	if err := sandboxable(); errors.As(err, &f) {
		t.Skip("this host makes no sandbox: ", f)
	} else if err != nil {
		t.Fatal(err)
	}
}

func wantExit(t *testing.T, r run, want ref.Exit) {
	t.Helper()
	if r.exit != want {
		t.Errorf("exit = %+v, want %+v; error %v; stderr %q\n%s", r.exit, want, r.err, r.stderr, r.text.String())
	}
	lines := r.lines()
	if len(lines) == 0 {
		t.Fatal("no events")
	}
	last := lines[len(lines)-1]
	told := last.Event == "exit" && last.Reason == want.Reason
	if want.Signal == 0 {
		told = told && last.Code != nil && *last.Code == want.Code
	} else {
		told = told && last.Signal != "" && last.Code == nil
	}
	if !told {
		t.Errorf("last event = %+v, want the exit %+v", last, want)
	}
}
