package ref

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"syscall"
	"time"

	"bridgecheck/ref/config"
	"bridgecheck/ref/event"
	"bridgecheck/ref/guardian"
	"bridgecheck/ref/mcpserver"
	"bridgecheck/ref/plan"
	"bridgecheck/ref/sandbox/external"
)

// errTimeout ends a phase that ran out of time.
var errTimeout = errors.New("the phase ran out of time (timeouts.phase_ms)")

// errBlind ends a phase whose events cannot be told any more.
var errBlind = errors.New("what happens cannot be told any more")

// SignalError is the cause of a context that a signal cancelled: a phase that
// is told to end before its agent runs then ends like a process that the
// signal killed.
type SignalError struct{ Signal syscall.Signal }

func (e *SignalError) Error() string { return "told to end by " + signalName(e.Signal) }

// phase is one run, from the plan to the end.
type phase struct {
	spec    config.Spec
	opt     Options
	about   external.About // the launcher's
	plan    plan.Plan
	dir     string // for sockets, empty where there are none
	doors   []*door
	model   *modelDoor      // nil where the specification has none
	box     box             // nil without an agent
	group   *guardian.Group // the sandbox's, where one can be had
	manager *mcpserver.ServerManager
	quit    chan struct{} // closed when the control stream says so, or ends
	cancel  context.CancelCauseFunc
	undo    []func() error
}

// Run runs one phase and returns when nothing of it is left. The exit tells
// how the agent ended, or why it never ran; the error is what the bridge itself
// met, and has been told as an error event. Cancelling ctx ends the phase: the
// agent gets SIGTERM, and SIGKILL after a grace.
func Run(ctx context.Context, spec config.Spec, opt Options) (Exit, error) {
	if opt.Log == nil {
		opt.Log = slog.New(slog.DiscardHandler)
	}
	p := &phase{spec: spec, opt: opt, quit: make(chan struct{})}
	if t := spec.Timeouts; t != nil && t.PhaseMS > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeoutCause(ctx, time.Duration(t.PhaseMS)*time.Millisecond, errTimeout)
		defer cancel()
	}
	ctx, p.cancel = context.WithCancelCause(ctx)
	defer p.cancel(nil)
	go func() {
		select {
		case <-opt.Events.Lost():
			p.blind(opt.Events.Err())
		case <-ctx.Done():
		}
	}()
	exit, err := p.run(ctx)
	if err != nil {
		exit, err = p.failed(ctx, exit, err)
	}
	if closing := p.close(); closing != nil {
		p.tell(closing)
		err = errors.Join(err, closing)
	}
	return p.last(exit, err)
}

// blind ends a phase whose events or replies cannot be told any more.
func (p *phase) blind(err error) { p.cancel(fmt.Errorf("%w: %w", errBlind, err)) }

// last tells the end of the phase. One whose events were lost has failed,
// however its agent ended: nobody can tell what it did.
func (p *phase) last(exit Exit, err error) (Exit, error) {
	failure := Exit{Code: CodeFailure, Reason: ReasonFailure}
	if p.opt.Events.Err() != nil {
		exit = failure
	}
	if !p.opt.DryRun {
		p.opt.Events.Emit(exit.event())
	}
	lost := p.opt.Events.Err()
	if lost != nil {
		exit = failure
	}
	if err == nil {
		err = lost
	}
	return exit, err
}

// run brings everything up and waits for the end.
func (p *phase) run(ctx context.Context) (Exit, error) {
	if err := p.spec.Validate(); err != nil {
		return Exit{}, err
	}
	if err := p.meet(ctx); err != nil {
		return Exit{}, err
	}
	if err := unsupported(p.spec, lacking(p.opt.Launcher, p.about)); err != nil {
		return Exit{}, err
	}
	if err := p.settle(ctx); err != nil || p.opt.DryRun {
		return Exit{}, err
	}
	if err := p.startServers(ctx); err != nil {
		return Exit{}, err
	}
	if err := p.serve(); err != nil {
		return Exit{}, err
	}
	p.ready()
	if lost := p.opt.Events.Err(); lost != nil {
		return Exit{}, lost
	}
	p.obey(ctx)
	if p.box != nil {
		if err := p.attach(); err != nil {
			return Exit{}, err
		}
		if err := p.box.Start(); err != nil {
			return Exit{}, fmt.Errorf("start the agent: %w", err)
		}
	}
	return p.wait(ctx)
}

// settle decides and makes the sandbox. Whether the host can do it is found by
// doing: when it cannot, the plan is made again with that known, and the policy
// decides what follows. The mode is told once it is certain.
func (p *phase) settle(ctx context.Context) error {
	host := p.host()
	var err error
	if p.opt.DryRun || p.spec.Agent == nil {
		if host, err = p.probe(ctx, host); err != nil {
			return err
		}
	}
	for {
		if p.plan, err = plan.Decide(p.spec, host); err != nil {
			return err
		}
		if p.opt.DryRun {
			break
		}
		if err := p.openDoors(); err != nil {
			return err
		}
		if p.spec.Agent == nil {
			break
		}
		err = p.launch(ctx)
		if err == nil {
			break
		}
		if ctx.Err() != nil || !weaken(&host, p.plan.Level, err) {
			return err
		}
		if err := p.close(); err != nil {
			return err
		}
	}
	p.announce()
	return nil
}

func (p *phase) announce() {
	pl := p.plan
	p.opt.Events.Emit(event.Mode{
		Mode: pl.Mode, Level: pl.Level, Reason: pl.Reason, Servers: pl.Servers, Allow: pl.Allow, Layers: p.layers(),
	})
	level := slog.LevelInfo
	if pl.Mode != plan.Connect {
		level = slog.LevelWarn
	}
	about := []any{"mode", pl.Mode, "level", pl.Level, "reason", pl.Reason}
	if p.box != nil && p.box.LandlockABI() > 0 {
		about = append(about, "landlock_abi", p.box.LandlockABI()) // an older one restricts less
	}
	p.opt.Log.Log(context.Background(), level, "mode", about...)
}

// layers are those of the plan and, once there is a sandbox, all that it has
// read back from inside.
func (p *phase) layers() map[string]string {
	all := map[string]string{"environment": "on"}
	if p.box != nil {
		maps.Copy(all, p.box.Layers())
	}
	for name, planned := range p.plan.Layers {
		if p.opt.Launcher == nil || all[name] != "on" { // one that was seen and not asked for is there
			all[name] = planned
		}
	}
	return all
}

// close undoes what was done, last first, and reports every error.
func (p *phase) close() error {
	var errs []error
	for _, undo := range slices.Backward(p.undo) {
		errs = append(errs, undo())
	}
	p.undo, p.box, p.group, p.manager, p.doors, p.model, p.dir = nil, nil, nil, nil, nil, nil, ""
	return errors.Join(errs...)
}

func (p *phase) later(undo func() error) { p.undo = append(p.undo, undo) }
