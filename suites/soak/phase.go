package soak

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"bridgecheck/fakes/attempt"
	"bridgecheck/suites/subject"
)

// tmpFolder is the TMPDIR of each phase, the same for all phases of a place: what
// one leaves, a later one finds.
const tmpFolder = "tmp"

// phase is one run of the subject.
type phase struct {
	cmd     *exec.Cmd
	stdin   *os.File
	control *os.File
	events  string
	done    chan struct{} // closed when the subject was waited for
	chance  *rand.Rand
}

// result is how a phase went.
type result struct {
	end  *end
	busy bool
	err  error
}

// phase runs one to its end. place keeps phases of the same round apart.
func (d *driver) phase(ctx context.Context, place int, e *end, chance *rand.Rand) result {
	p, err := d.start(place, e, chance)
	if err != nil {
		return result{end: e, err: err}
	}
	defer p.stdin.Close()
	defer p.control.Close()
	r := result{end: e, busy: e.bring(ctx, d, p) && e.kills}
	select {
	case <-p.done:
	case <-time.After(patience + 15*time.Second):
		_ = p.cmd.Process.Kill()
		<-p.done
		r.err = fmt.Errorf("the subject does not end after %s; its events end with\n%s", e.name, p.lastEvents())
	}
	if r.err == nil && e == quiet && !p.cmd.ProcessState.Success() {
		r.err = fmt.Errorf("a phase that nothing happens to ends with %v; its events end with\n%s", p.cmd.ProcessState, p.lastEvents())
	}
	return r
}

func (d *driver) start(place int, e *end, chance *rand.Rand) (*phase, error) {
	dir := filepath.Join(d.cfg.Work, fmt.Sprintf("place-%d", place))
	if err := os.MkdirAll(filepath.Join(dir, tmpFolder), 0o700); err != nil {
		return nil, err
	}
	p := &phase{events: filepath.Join(dir, "events.jsonl"), done: make(chan struct{}), chance: chance}
	if err := os.Remove(p.events); err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, err
	}
	raw, err := json.Marshal(d.spec(e, chance))
	if err != nil {
		return nil, err
	}
	spec := filepath.Join(dir, "spec.json")
	if err := os.WriteFile(spec, raw, 0o600); err != nil {
		return nil, err
	}
	// Only one that does not block can be closed while it is read.
	fds, err := syscall.Socketpair(syscall.AF_UNIX, syscall.SOCK_STREAM|syscall.SOCK_CLOEXEC|syscall.SOCK_NONBLOCK, 0)
	if err == nil {
		err = syscall.SetNonblock(fds[1], false) // as from any caller
	}
	if err != nil {
		return nil, err
	}
	theirs := os.NewFile(uintptr(fds[1]), "control")
	p.control = os.NewFile(uintptr(fds[0]), "control")
	defer theirs.Close()
	in, stdin, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	defer in.Close()
	p.stdin = stdin
	p.cmd = exec.Command(d.cfg.Subject, "run", "--spec", spec, "--events", p.events, "--control", "3")
	p.cmd.Dir, p.cmd.Stdin, p.cmd.ExtraFiles = dir, in, []*os.File{theirs}
	p.cmd.Env = []string{"PATH=/usr/bin:/bin", "HOME=" + dir, "TMPDIR=" + filepath.Join(dir, tmpFolder)}
	p.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	if err := p.cmd.Start(); err != nil {
		return nil, err
	}
	go func() {
		_ = p.cmd.Wait() // how it ended is not asked here
		close(p.done)
	}()
	go drain(p.control)
	d.order(p)
	return p, nil
}

// drain reads what the subject tells, as its contract wants.
func drain(f *os.File) {
	buf := make([]byte, 4096)
	for {
		if _, err := f.Read(buf); err != nil {
			return
		}
	}
}

// order lets the probe make trouble inside: processes that leave their parents,
// and a decision of the proxy.
func (d *driver) order(p *phase) {
	for _, line := range []any{
		attempt.Order{HostNetNS: d.cfg.HostNetNS, Nonce: "soak"},
		attempt.Attempt{ID: 1, Op: attempt.OpSpawn, Args: []string{"setsid"}},
		attempt.Attempt{ID: 2, Op: attempt.OpSpawn, Args: []string{"double-fork"}},
		attempt.Attempt{
			ID: 3, Op: attempt.OpDial, Network: "tcp", Address: "127.0.0.1:18080", Until: "head",
			Data: []byte("CONNECT undeclared.example.test:443 HTTP/1.1\r\nHost: undeclared.example.test:443\r\n\r\n"),
		},
	} {
		raw, err := json.Marshal(line)
		if err == nil {
			_, _ = p.stdin.Write(append(raw, '\n')) // a subject that has ended already is no finding
		}
	}
}

// awaitEvent waits until an event of the kind is told, or the subject has ended.
func (p *phase) awaitEvent(ctx context.Context, kind string) {
	want := []byte(`"event":"` + kind + `"`)
	for pause(ctx, time.Millisecond) {
		if text, err := os.ReadFile(p.events); err == nil && bytes.Contains(text, want) {
			return
		}
		select {
		case <-p.done:
			return
		default:
		}
	}
}

func (p *phase) lastEvents() string {
	text, err := os.ReadFile(p.events)
	if err != nil {
		return err.Error()
	}
	lines := strings.Split(strings.TrimSpace(string(text)), "\n")
	return strings.Join(lines[max(0, len(lines)-10):], "\n")
}

// spec has two or three servers of the kinds that a phase must survive.
func (d *driver) spec(e *end, chance *rand.Rand) subject.Spec {
	s := subject.Spec{Agent: &subject.Agent{Path: d.cfg.Probe}}
	if e == quiet || chance.IntN(3) == 0 {
		s.Limits = &subject.Limits{Memory: 2 << 30, PIDs: 500} // control groups are made for them
	}
	if e.spec != nil {
		e.spec(&s)
	}
	kinds := kinds
	if e.servers != nil {
		kinds = e.servers
	}
	for i := range 1 + chance.IntN(3) {
		flags := kinds[chance.IntN(len(kinds))]
		server := subject.Server{
			Name: fmt.Sprintf("s%d", i), Placement: "host", Command: d.cfg.FakeMCP,
			Args: append([]string{"--name", fmt.Sprintf("s%d", i)}, flags...), StartTimeoutMS: 10_000, StopGraceMS: 200,
		}
		if !e.alone && chance.IntN(4) == 0 {
			server.Containment = "process-group"
		}
		s.Servers = append(s.Servers, server)
	}
	return s
}

// kinds are flags of the fake server; each is one that stays, or tries to.
var kinds = [][]string{
	{},
	{"--ignore-eof"},
	{"--ignore-eof", "--ignore-term"},
	{"--ignore-eof", "--fork", "setsid", "--fork", "double"},
	{"--ignore-term", "--fork", "hold-pipe", "--fork", "child"},
	{"--stderr-bytes", "1000000", "--discover", "flood"},
	{"--garbage", "200"},
	{"--start-delay", "40ms", "--discover", "ignore"},
	{"--hang-after", "3", "--ignore-eof"},
	{"--discover", "die"},
}

// broken are kinds that never become healthy.
var broken = [][]string{
	{"--mute"}, {"--mute", "--ignore-eof", "--ignore-term", "--fork", "setsid"}, {"--garbage-forever"}, {"--die-at-start", "3"},
}
