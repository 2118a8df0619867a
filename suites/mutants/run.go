package mutants

import (
	"context"
	"os"
	"runtime"
	"slices"
	"sync"

	"bridgecheck/suites/report"
)

// Subject is one binary to be verified.
type Subject struct {
	// Label is what it is called in results; the binary itself knows nothing of
	// its fault.
	Label  string
	Binary string
	// IDs are the checks, or rows of them, to run.
	IDs []string
}

// Verify runs the checks against a subject and judges them. An error means that
// no verdict could be had.
type Verify func(ctx context.Context, s Subject) (report.Verdict, error)

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

// Run builds and verifies the subject without a fault, then with each one, and
// then every wrong subject named. A fault that is missed is tried once more,
// alone: one that works by time is hidden on a busy host. What cannot be built or verified is a Kill
// with a Problem; Run itself never fails. Faults are built while the control
// runs, and tried once it has held.
func Run(ctx context.Context, b Builder, faults []Fault, wrongs []string, verify Verify, o Options) Result {
	r := Result{Full: o.Full, IDs: checks(faults, o), Kills: make([]Kill, len(faults)+len(wrongs))}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	binary := ""
	if len(faults) > 0 {
		var err error
		if binary, err = b.prepare(ctx); err != nil {
			r.Control, r.Kills = Kill{Name: original, Problem: err.Error()}, nil
			return r
		}
	}
	line := newPipeline(o)
	held := make(chan struct{})
	line.wait.Go(func() {
		defer close(held)
		if len(faults) == 0 {
			return
		}
		if r.Control = control(ctx, binary, faults, verify, o); r.Control.Problem != "" {
			cancel()
		}
	})
	for i, kind := range wrongs { // first, since one of them hangs
		k := Kill{Name: "wrong-" + kind, Why: "a subject that is wrong as a whole"}
		line.add(ctx, &r.Kills[len(faults)+i], k, nil,
			func() (string, error) { return b.wrong(ctx, kind) },
			func(k *Kill, binary string) { tryWrong(ctx, k, binary, verify) })
	}
	plant := func(i int, k Kill, after <-chan struct{}) {
		f := faults[i]
		k.Name, k.Why = f.Name, f.Why
		line.add(ctx, &r.Kills[i], k, after,
			func() (string, error) { return b.Build(ctx, f) },
			func(k *Kill, binary string) { try(ctx, k, f, binary, verify, idsOf(f, o)) })
	}
	for i := range faults {
		plant(i, Kill{}, held)
	}
	line.wait.Wait()
	if r.Control.Problem != "" {
		r.Kills = nil
		return r
	}
	for i := range faults {
		if k := r.Kills[i]; k.Problem == "" && !k.Caught() {
			plant(i, Kill{Alone: true}, nil)
			line.wait.Wait()
		}
	}
	return r
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

func try(ctx context.Context, k *Kill, f Fault, binary string, verify Verify, ids []string) {
	v, err := verify(ctx, Subject{Label: f.Name, Binary: binary, IDs: ids})
	if k.Problem = problem(v, err); k.Problem != "" {
		return
	}
	for _, id := range f.Cases {
		k.Named = append(k.Named, Seen{ID: id, Outcome: outcome(v, id)})
	}
	for _, c := range v.Cases {
		named := slices.ContainsFunc(f.Cases, func(id string) bool { return caseOf(id) == c.ID })
		switch {
		case named, c.Outcome == report.Pass, c.Outcome == report.NA, c.Outcome == report.NotSelected:
		case !c.Red && (c.Outcome == report.BlockedHost || c.Outcome == report.MootDoor): // by this host, not by the fault
		default:
			k.Also = append(k.Also, Seen{ID: c.ID, Outcome: c.Outcome})
		}
	}
}

// control verifies the subject without a fault on everything that a fault will
// be tried on.
func control(ctx context.Context, binary string, faults []Fault, verify Verify, o Options) Kill {
	k := Kill{Name: original, Why: "no fault: every named check passes"}
	v, err := verify(ctx, Subject{Label: original, Binary: binary, IDs: ids(faults, o)})
	if k.Problem = problem(v, err); k.Problem != "" {
		return k
	}
	for _, f := range faults {
		for _, id := range f.Cases {
			if o := outcome(v, id); o != report.Pass && !slices.Contains(k.Named, Seen{id, o}) {
				k.Named = append(k.Named, Seen{id, o})
			}
		}
	}
	if len(k.Named) > 0 {
		k.Problem = "these do not pass without a fault, so their faults were not tried: " + list(k.Named)
	}
	return k
}
