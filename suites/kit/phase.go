package kit

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"time"

	"github.com/onsi/ginkgo/v2"

	"bridgecheck/suites/subject"
)

// Phase is one run of the subject.
type Phase struct {
	// Agent is the probe inside; nil when the spec has an agent of its own or none.
	Agent *Agent
	// PID is the subject's own process.
	PID int
	// Control is the control stream; nil unless started with WithControl.
	Control *Control
	// Stdin, Stdout are the agent's own when it is not the probe.
	Stdin  *os.File
	Stdout *os.File

	t      *T
	dir    string
	cmd    *exec.Cmd
	stderr *tail
	events *eventLog
	done   chan struct{} // closed when the subject was waited for
}

// Exit is how the subject's process ended: by code, or by a signal of its own.
type Exit struct {
	Code   int            `json:"code"`
	Signal syscall.Signal `json:"signal,omitempty"`
}

func (e Exit) String() string {
	if e.Signal != 0 {
		return "signal " + e.Signal.String()
	}
	return fmt.Sprintf("exit code %d", e.Code)
}

// Option changes how a phase is started.
type Option func(*start)

type start struct {
	spec    subject.Spec
	args    []string
	env     []string
	files   []*os.File // descriptors from 3 on
	control bool
	noAgent bool
	user    *syscall.Credential
	rawSpec []byte
	knob    string
	stderr  *os.File
	// terminal says that stderr is the controlling terminal.
	terminal bool
}

// WithControl opens the control stream.
func WithControl() Option { return func(s *start) { s.control = true } }

// WithoutAgent leaves the agent out of the spec.
func WithoutAgent() Option { return func(s *start) { s.noAgent = true } }

// WithEnv adds to the subject's environment.
func WithEnv(env ...string) Option { return func(s *start) { s.env = append(s.env, env...) } }

// WithArgs adds arguments after `run --spec FILE`.
func WithArgs(args ...string) Option { return func(s *start) { s.args = append(s.args, args...) } }

// WithRawSpec writes these bytes as the spec, whatever they are.
func WithRawSpec(raw []byte) Option { return func(s *start) { s.rawSpec = raw } }

// WithFile gives the subject an open file at the descriptor; it must be above 2.
func WithFile(fd int, f *os.File) Option {
	return func(s *start) {
		for len(s.files) <= fd-3 {
			s.files = append(s.files, nil)
		}
		s.files[fd-3] = f
	}
}

// WithStderr sends what the subject and its agent write there to a file, whole.
func WithStderr(f *os.File) Option { return func(s *start) { s.stderr = f } }

// OnTerminal starts the subject as a person does: the terminal controls its
// session, and is its standard error.
func OnTerminal(terminal *os.File) Option {
	return func(s *start) { s.stderr, s.terminal = terminal, true }
}

// AsOtherUser starts the subject as another user of the host; it needs the host
// fact two-uids.
func AsOtherUser() Option {
	return func(s *start) { s.user = &syscall.Credential{Uid: otherUID, Gid: otherUID} }
}

// Start runs the subject with the probe as its agent, unless the spec names
// another. It returns as soon as the process runs; the first attempt waits.
func (t *T) Start(ctx context.Context, spec subject.Spec, options ...Option) *Phase {
	ginkgo.GinkgoHelper()
	s := &start{spec: t.complete(spec)}
	for _, o := range options {
		o(s)
	}
	switch {
	case s.noAgent:
		s.spec.Agent = nil
	case s.spec.Agent == nil:
		s.spec.Agent = &subject.Agent{Path: t.run.cfg.Probe}
	case s.spec.Agent.Path == "":
		s.spec.Agent.Path = t.run.cfg.Probe
	}
	t.tryKnob(ctx, s.knob)
	p, err := t.launch(s)
	if err != nil {
		t.Fatal("start subject: %v", err)
	}
	ginkgo.DeferCleanup(p.end)
	t.evidence(p)
	t.phases = append(t.phases, p)
	if s.spec.Agent != nil && s.spec.Agent.Path == t.run.cfg.Probe {
		p.Agent = newAgent(t, "in the sandbox", p.Stdin, p.Stdout)
		p.Agent.ended = p.fate
		// A subject that is already gone shows at the first attempt.
		_ = p.Agent.hello(t.run.cfg.HostNetNS)
	}
	return p
}

// complete fills in what every phase in the lab needs.
func (t *T) complete(spec subject.Spec) subject.Spec {
	if spec.Resolver == "" {
		spec.Resolver = "127.0.0.1:53"
	}
	return spec
}

func (t *T) launch(s *start) (*Phase, error) {
	t.serial++
	dir := filepath.Join(t.dir(), fmt.Sprintf("phase-%d", t.serial))
	if err := os.MkdirAll(filepath.Join(dir, "tmp"), 0o700); err != nil {
		return nil, err
	}
	specFile, eventPath := filepath.Join(dir, "spec.json"), filepath.Join(dir, "events.jsonl")
	raw := s.rawSpec
	if raw == nil {
		var err error
		if raw, err = json.MarshalIndent(s.spec, "", " "); err != nil {
			return nil, err
		}
	}
	if err := os.WriteFile(specFile, raw, 0o600); err != nil {
		return nil, err
	}
	if err := s.own(dir, filepath.Join(dir, "tmp"), specFile); err != nil {
		return nil, err
	}
	args := append([]string{"run", "--spec", specFile, "--events", eventPath}, s.args...)
	p := &Phase{t: t, dir: dir, stderr: &tail{}, events: &eventLog{path: eventPath}, done: make(chan struct{})}
	var theirs []*os.File
	var err error
	if s.control {
		if p.Control, theirs, err = newControl(p); err != nil {
			return nil, err
		}
		s.files = append(s.files, theirs...)
		args = append(args, "--control", fmt.Sprint(2+len(s.files)))
	}
	line := s.command(t.run.cfg, args)
	p.cmd = exec.Command(line[0], line[1:]...)
	p.cmd.Dir = dir
	p.cmd.Env = append(baseEnv(dir), s.env...)
	p.cmd.ExtraFiles = s.files
	p.cmd.Stderr = p.stderr
	if s.stderr != nil {
		p.cmd.Stderr = s.stderr
	}
	p.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: !s.terminal, Pdeathsig: syscall.SIGKILL, Credential: s.user}
	if s.terminal {
		p.cmd.SysProcAttr.Setsid, p.cmd.SysProcAttr.Setctty, p.cmd.SysProcAttr.Ctty = true, true, 2
	}
	if err := p.begin(); err != nil {
		return nil, err
	}
	for _, f := range theirs {
		f.Close()
	}
	return p, nil
}

// own gives what the harness made to the user that the subject runs as.
func (s *start) own(paths ...string) error {
	if s.user == nil {
		return nil
	}
	for _, path := range paths {
		if err := os.Chown(path, int(s.user.Uid), int(s.user.Gid)); err != nil {
			return err
		}
	}
	return nil
}

// begin gives the subject real pipes, so that what the agent inherits is what a
// caller would give it.
func (p *Phase) begin() error {
	inR, inW, err := os.Pipe()
	if err != nil {
		return err
	}
	outR, outW, err := os.Pipe()
	if err != nil {
		inR.Close()
		inW.Close()
		return err
	}
	p.cmd.Stdin, p.cmd.Stdout = inR, outW
	p.Stdin, p.Stdout = inW, outR
	err = p.cmd.Start()
	inR.Close()
	outW.Close()
	if err != nil {
		inW.Close()
		outR.Close()
		return err
	}
	p.PID = p.cmd.Process.Pid
	p.cmd.WaitDelay = time.Second
	go func() {
		_ = p.cmd.Wait() // the state is read by Wait
		close(p.done)
	}()
	return nil
}

// baseEnv is the environment a subject is started in: nothing of the machine's.
func baseEnv(dir string) []string {
	return []string{
		"PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
		"HOME=" + dir, "TMPDIR=" + filepath.Join(dir, "tmp"), "LANG=C.UTF-8",
	}
}
