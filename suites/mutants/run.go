package mutants

import (
	"context"
	"os"
	"runtime"
	"sync"
)

// Options say how far [Run] goes.
type Options struct {
	// All are the ids of all checks; with Full each fault meets all of them.
	All  []string
	Full bool
	// Sentinels are checks, or rows of them, that run with every fault, to show
	// what a fault breaks beside its own checks.
	Sentinels []string
	// Parallel is how many faults are verified at once; 0 means three for each
	// processor, since a check waits for most of its time.
	Parallel int
	// Done, when set, is called after each fault, one call at a time; where the
	// control did not hold, for those that were not tried too.
	Done func(Kill)
}

// Batch is what is planted in one program.
type Batch struct {
	Builder Builder
	Faults  []Fault
	Wrongs  []string // subjects that are wrong as a whole, see [Wrongs]
	Verify  Verify
}

// Run builds and verifies each batch's subject without a fault, then with each
// one, and every wrong subject named. A fault that is missed is tried once more
// when all others have been, alone: one that works by time is hidden on a busy
// host. What cannot be built or verified is a Kill with a Problem; Run itself
// never fails. Faults are built while the control runs, and tried once it has held.
func Run(ctx context.Context, batches []Batch, o Options) []Result {
	line, planted := newPipeline(o), make([]*planting, len(batches))
	for i, b := range batches {
		planted[i] = &planting{Batch: b, line: line, o: o}
		planted[i].run(ctx)
	}
	line.wait.Wait()
	results := make([]Result, len(batches))
	for i, p := range planted {
		results[i] = p.again(ctx)
	}
	return results
}

// planting is a batch at work.
type planting struct {
	Batch
	Result
	line *pipeline
	o    Options
	stop context.CancelFunc
}

// run returns when the control has ended; the pipeline does the rest.
func (p *planting) run(ctx context.Context) {
	p.Full, p.IDs, p.Kills = p.o.Full, checks(p.Faults, p.o), make([]Kill, len(p.Faults)+len(p.Wrongs))
	ctx, p.stop = context.WithCancel(ctx)
	p.Builder.all = p.o.Full
	binary := ""
	if len(p.Faults) > 0 {
		var err error
		if binary, err = p.Builder.prepare(ctx); err != nil {
			p.Control, p.Wrongs, p.Faults = Kill{Name: original, Problem: err.Error()}, nil, nil
		}
	}
	for i, kind := range p.Wrongs { // first, since one of them hangs
		k := Kill{Name: "wrong-" + kind, Why: "a subject that is wrong as a whole"}
		p.line.add(ctx, &p.Kills[len(p.Faults)+i], k, nil,
			func() (string, error) { return p.Builder.wrong(ctx, kind) },
			func(k *Kill, binary string) { tryWrong(ctx, k, binary, p.Verify) })
	}
	held := make(chan struct{})
	for i := range p.Faults {
		p.plant(ctx, i, Kill{}, held)
	}
	if len(p.Faults) > 0 {
		if p.Control = control(ctx, binary, p.Faults, p.Verify, p.o); p.Control.Problem != "" {
			p.stop()
		}
	}
	close(held)
}

func (p *planting) plant(ctx context.Context, i int, k Kill, after <-chan struct{}) {
	f := p.Faults[i]
	k.Name, k.Why = f.Name, f.Why
	p.line.add(ctx, &p.Kills[i], k, after,
		func() (string, error) { return p.Builder.Build(ctx, f) },
		func(k *Kill, binary string) { try(ctx, k, f, binary, p.Verify, idsOf(f, p.o)) })
}

// again tries what was missed alone.
func (p *planting) again(ctx context.Context) Result {
	p.stop()
	if p.Control.Problem != "" {
		p.Kills = nil
		return p.Result
	}
	for i := range p.Faults {
		if k := p.Kills[i]; k.Problem == "" && !k.Caught() {
			p.plant(ctx, i, Kill{Alone: true}, nil)
			p.line.wait.Wait()
		}
	}
	return p.Result
}

// pipeline builds as many at once as there are cores, and tries more: much of
// what a check does is waiting.
type pipeline struct {
	wait          sync.WaitGroup
	builds, tries chan struct{}
	mu            sync.Mutex
	done          func(Kill)
}

func newPipeline(o Options) *pipeline {
	if o.Parallel <= 0 {
		o.Parallel = 3 * runtime.NumCPU()
	}
	return &pipeline{builds: make(chan struct{}, runtime.NumCPU()), tries: make(chan struct{}, o.Parallel), done: o.Done}
}

// add builds one, and tries it when after is closed; nil is no reason to wait.
// Once ctx has ended nothing is tried.
func (p *pipeline) add(ctx context.Context, into *Kill, k Kill, after <-chan struct{}, build func() (string, error), try func(*Kill, string)) {
	p.wait.Go(func() {
		p.builds <- struct{}{}
		binary, err := build()
		<-p.builds
		if after != nil {
			<-after
		}
		p.tries <- struct{}{}
		defer func() { <-p.tries }()
		switch {
		case err != nil:
			k.Problem = err.Error()
		case ctx.Err() != nil:
			k.Problem = "the run has ended"
		default:
			try(&k, binary)
		}
		if k.Caught() {
			_ = os.Remove(binary) // hundreds of them; what was missed is there to be looked at
		}
		p.mu.Lock()
		defer p.mu.Unlock()
		if *into = k; p.done != nil {
			p.done(k)
		}
	})
}
