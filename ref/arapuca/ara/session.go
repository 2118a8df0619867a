package ara

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	arapuca "github.com/LeGambiArt/go-arapuca"

	"bridgecheck/ref/arapuca/launcher"
)

// session holds what was made by name.
type session struct {
	boxes     map[string]*arapuca.Sandbox
	processes map[string]*running
}

type running struct {
	process *arapuca.Process
	cancel  context.CancelFunc
}

func newSession() *session {
	return &session{boxes: map[string]*arapuca.Sandbox{}, processes: map[string]*running{}}
}

// do gives an error for a step that makes no sense; what the library says is a
// fact.
func (s *session) do(step Step) (Fact, error) {
	limit := 20 * time.Second
	if step.TimeoutMS > 0 {
		limit = time.Duration(step.TimeoutMS) * time.Millisecond
	}
	switch step.Do {
	case "new":
		box, err := arapuca.New()
		if err == nil {
			s.boxes[step.Box] = box
		}
		return fact(err), nil
	case "launch":
		return s.launch(step)
	case "netns":
		return Fact{Available: arapuca.NetNSAvailable()}, nil
	case "versions":
		return Fact{Versions: launcher.Versions()}, nil
	case "await":
		return await(step.Path, limit), nil
	case "close":
		if box := s.boxes[step.Box]; box != nil {
			box.Close()
			return Fact{}, nil
		}
		return Fact{}, fmt.Errorf("there is no box %q", step.Box)
	}
	return s.with(step, limit)
}

// with does the steps that need a process; one that was not launched has none,
// and the fact of that says why.
func (s *session) with(step Step, limit time.Duration) (Fact, error) {
	p := s.processes[step.Process]
	if p == nil {
		return Fact{Error: "it was not launched"}, nil
	}
	switch step.Do {
	case "cancel":
		p.cancel()
		return Fact{}, nil
	case "cleanup":
		p.process.Cleanup()
		return Fact{}, nil
	case "wait":
		return p.wait(limit), nil
	}
	return Fact{}, errors.New("unknown")
}

func (s *session) launch(step Step) (Fact, error) {
	box := s.boxes[step.Box]
	if box == nil || step.Launch == nil {
		return Fact{}, errors.New("it needs a box and what to launch")
	}
	cfg, args, err := configOf(*step.Launch)
	if err != nil {
		return Fact{Lacks: err.Error()}, nil
	}
	cfg.Stdin, cfg.Stdout, cfg.Stderr = os.Stdin, os.Stdout, os.Stderr
	ctx, cancel := context.WithCancel(context.Background())
	p, err := box.Launch(ctx, cfg, step.Launch.Command, args, nil)
	if err != nil {
		cancel()
		return fact(err), nil
	}
	s.processes[step.Process] = &running{p, cancel}
	return Fact{PID: p.PID()}, nil
}

// wait leaves a Wait behind that does not return: it is an observation.
func (p *running) wait(limit time.Duration) Fact {
	done := make(chan Fact, 1)
	go func() {
		code, err := p.process.Wait()
		f := fact(err)
		f.Code = code
		done <- f
	}()
	select {
	case f := <-done:
		return f
	case <-time.After(limit):
		return Fact{Timeout: true}
	}
}

// await waits until the caller has made a file.
func await(path string, limit time.Duration) Fact {
	for end := time.Now().Add(limit); time.Now().Before(end); time.Sleep(2 * time.Millisecond) {
		if _, err := os.Stat(path); err == nil {
			return Fact{}
		}
	}
	return Fact{Timeout: true}
}

func fact(err error) Fact {
	if err == nil {
		return Fact{}
	}
	return Fact{Error: err.Error()}
}
