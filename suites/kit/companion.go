package kit

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"

	"github.com/onsi/ginkgo/v2"

	"bridgecheck/suites/report"
)

// Companion starts the program that stands beside the subject and uses the
// library below it: it does what the order says and writes facts, a line of JSON
// each, which are the phase's events. Its standard streams are those of what it
// launches, which is the probe where a check makes it so. A subject without a
// companion has no such library, and the check does not apply.
func (t *T) Companion(ctx context.Context, order any, options ...Option) *Phase {
	ginkgo.GinkgoHelper()
	if t.run.cfg.Companion == "" {
		t.stop(report.NotApplicable, "no program that uses a library below it stands beside the subject")
	}
	s := &start{}
	for _, o := range options {
		o(s)
	}
	t.tryKnob(ctx, s.knob)
	p, err := t.accompany(s, order)
	if err != nil {
		t.Fatal("start companion: %v", err)
	}
	ginkgo.DeferCleanup(p.end)
	t.evidence(p)
	p.Agent = newAgent(t, "in the sandbox", p.Stdin, p.Stdout)
	p.Agent.ended = p.fate
	_ = p.Agent.hello(t.run.cfg.HostNetNS) // one that is already gone shows at the first attempt
	return p
}

func (t *T) accompany(s *start, order any) (*Phase, error) {
	t.serial++
	dir := filepath.Join(t.dir(), fmt.Sprintf("phase-%d", t.serial))
	if err := os.MkdirAll(filepath.Join(dir, "tmp"), 0o700); err != nil {
		return nil, err
	}
	raw, err := json.MarshalIndent(order, "", " ")
	if err != nil {
		return nil, err
	}
	// The evidence of a phase has these names.
	orderFile, facts := filepath.Join(dir, "spec.json"), filepath.Join(dir, "events.jsonl")
	if err := os.WriteFile(orderFile, raw, 0o600); err != nil {
		return nil, err
	}
	cfg := t.run.cfg
	cfg.Subject = cfg.Companion
	line := s.command(cfg, []string{"--order", orderFile, "--facts", facts})
	p := &Phase{t: t, dir: dir, stderr: &tail{}, events: &eventLog{path: facts}, done: make(chan struct{})}
	p.cmd = exec.Command(line[0], line[1:]...)
	p.cmd.Dir, p.cmd.Env, p.cmd.Stderr = dir, append(baseEnv(dir), s.env...), p.stderr
	p.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	return p, p.begin()
}

// Ended tells whether the subject's, or the companion's, own process has ended.
func (p *Phase) Ended() bool { return p.ended() }
