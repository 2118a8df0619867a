package mutants

import (
	"context"
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
	// IDs are the checks to run, without rows.
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
	// Sentinels run with every fault, to show what a fault breaks beside its
	// own checks.
	Sentinels []string
	// Parallel is how many faults are built and verified at once; 0 means 2.
	Parallel int
	// Done, when set, is called after each fault, one call at a time.
	Done func(Kill)
}

// Run builds and verifies the subject without a fault, then with each one, and
// then every wrong subject named. What cannot be built or verified is a Kill
// with a Problem; Run itself never fails.
func Run(ctx context.Context, b Builder, faults []Fault, wrongs []string, verify Verify, o Options) Result {
	r := Result{Full: o.Full, IDs: ids(faults, o), Kills: make([]Kill, len(faults)+len(wrongs))}
	if len(faults) > 0 {
		if r.Control = control(ctx, b, faults, verify, r.IDs); r.Control.Problem != "" {
			r.Kills = nil
			return r
		}
	}
	if o.Parallel <= 0 {
		o.Parallel = 2
	}
	var wait sync.WaitGroup
	var mu sync.Mutex
	slots := make(chan struct{}, o.Parallel)
	inSlot := func(i int, one func() Kill) {
		wait.Go(func() {
			slots <- struct{}{}
			defer func() { <-slots }()
			k := one()
			mu.Lock()
			defer mu.Unlock()
			if r.Kills[i] = k; o.Done != nil {
				o.Done(k)
			}
		})
	}
	for i, kind := range wrongs { // first, since one of them hangs
		inSlot(len(faults)+i, func() Kill { return TryWrong(ctx, b, kind, verify) })
	}
	for i, f := range faults {
		inSlot(i, func() Kill { return try(ctx, b, f, verify, idsOf(f, o)) })
	}
	wait.Wait()
	return r
}

func try(ctx context.Context, b Builder, f Fault, verify Verify, ids []string) Kill {
	k := Kill{Name: f.Name, Why: f.Why}
	binary, err := b.Build(ctx, f)
	if err != nil {
		k.Problem = err.Error()
		return k
	}
	v, err := verify(ctx, Subject{Label: f.Name, Binary: binary, IDs: ids})
	if k.Problem = problem(v, err); k.Problem != "" {
		return k
	}
	for _, id := range f.Cases {
		k.Named = append(k.Named, Seen{ID: id, Outcome: outcome(v, id)})
	}
	for _, c := range v.Cases {
		named := slices.ContainsFunc(f.Cases, func(id string) bool { return caseOf(id) == c.ID })
		switch {
		case named, c.Outcome == report.Pass, c.Outcome == report.NA, c.Outcome == report.NotSelected:
		default:
			k.Also = append(k.Also, Seen{ID: c.ID, Outcome: c.Outcome})
		}
	}
	return k
}

// control verifies the subject without a fault on everything that a fault will
// be tried on.
func control(ctx context.Context, b Builder, faults []Fault, verify Verify, ids []string) Kill {
	k := Kill{Name: original, Why: "no fault: every named check passes"}
	binary, err := b.Original(ctx)
	if err != nil {
		k.Problem = err.Error()
		return k
	}
	v, err := verify(ctx, Subject{Label: original, Binary: binary, IDs: ids})
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
