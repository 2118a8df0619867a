package mutants

import (
	"context"
	"slices"

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
