package kit

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/onsi/ginkgo/v2"
	"github.com/onsi/ginkgo/v2/types"

	"bridgecheck/suites/catalog"
	"bridgecheck/suites/report"
	"bridgecheck/suites/subject"
)

// T is one check in progress. Fixtures made with it end with it.
type T struct {
	run   *run
	check check

	mu      sync.Mutex
	result  report.Result
	stopped report.State // set when the body ended the check itself
	files   []evidence
	serial  int
	outside *Agent
	agents  []*Agent
	pids    map[int]bool // the harness's own probes
	knobs   []string     // that were found to have an effect
	last    *made        // the last attempt inside
	phases  []*Phase
}

// Subject is the description of the subject under test.
func (t *T) Subject() subject.Description { return t.run.subject }

// Row is the name of the row, empty for a check without rows.
func (t *T) Row() string { return t.check.row }

func (r *run) execute(ctx context.Context, c check) {
	t := &T{run: r, check: c, result: report.Result{ID: c.Case.ID, Row: c.row}, pids: map[int]bool{}}
	r.current = t
	for _, need := range c.Case.Needs {
		t.Require(need)
	}
	for _, fact := range c.Case.Host {
		t.RequireHost(fact)
	}
	ginkgo.DeferCleanup(t.sweep)
	c.body(ctx, t)
}

// after runs for every spec, also for skipped and panicked ones, when all
// clean-up is done, and files the result.
func (r *run) after(spec ginkgo.SpecReport) {
	t := r.current
	r.current = nil
	if t == nil {
		return // the run as a whole is unfinished, and judged so
	}
	res := &t.result
	res.State, res.Reason = t.outcome(spec)
	res.At, res.Levels = place(spec), t.levels()
	res.TookMS = float64(spec.RunTime.Microseconds()) / 1000
	if res.State == report.Failed || res.State == report.Errored {
		res.Evidence = t.writeEvidence(spec)
	}
	r.results = append(r.results, *res)
	r.progress(*res, t.check.Case.Title)
}

// outcome maps what Ginkgo saw to a state. A failure beats a skip: a clean-up
// that failed after a skip leaves Ginkgo's state at skipped.
func (t *T) outcome(spec ginkgo.SpecReport) (report.State, string) {
	switch {
	case t.stopped == report.Errored:
		return report.Errored, t.result.Reason
	case spec.State.Is(types.SpecStatePanicked | types.SpecStateInterrupted | types.SpecStateAborted):
		return report.Errored, spec.State.String() + ": " + spec.Failure.Message + " " + spec.Failure.ForwardedPanic
	case spec.State.Is(types.SpecStateTimedout):
		return report.Failed, fmt.Sprintf("the subject stood still for %s", t.check.cap())
	case spec.State.Is(types.SpecStateFailed):
		return report.Failed, spec.Failure.Message
	case len(spec.AdditionalFailures) > 0:
		return report.Errored, "clean-up: " + spec.AdditionalFailures[0].Failure.Message
	case spec.State.Is(types.SpecStateSkipped) && t.stopped != "":
		return t.stopped, t.result.Reason
	case spec.State.Is(types.SpecStatePassed):
		return report.Passed, ""
	}
	return report.Errored, "unexpected state " + spec.State.String() + ": " + spec.Failure.Message
}

// place is where it was decided, with the path as it is in the repository.
func place(spec ginkgo.SpecReport) string {
	at := spec.LeafNodeLocation
	if spec.Failure.Location.FileName != "" {
		at = spec.Failure.Location
	}
	if at.FileName == "" {
		return ""
	}
	return inRepository(at)
}

// inRepository is a place with the path as it is in the repository.
func inRepository(at types.CodeLocation) string {
	file := at.FileName
	if i := strings.LastIndex(file, "suites/"); i >= 0 {
		file = file[i:]
	}
	return fmt.Sprintf("%s:%d", file, at.LineNumber)
}

// selected are the ids asked for that there is something to run for, in order.
func selected(want []string) []string {
	var ids []string
	for _, id := range want {
		if slices.ContainsFunc(checks, func(c check) bool { return c.in([]string{id}) }) {
			ids = append(ids, id)
		}
	}
	slices.Sort(ids)
	return slices.Compact(ids)
}

// Require ends the check as not applicable when the subject does not claim c:
// for rows that need more than the check as a whole.
func (t *T) Require(c subject.Capability) {
	ginkgo.GinkgoHelper()
	if !t.run.subject.Claims(c) {
		t.stop(report.NotApplicable, fmt.Sprintf("the subject does not claim %s", c))
	}
	if !slices.Contains(t.result.Uses, c) {
		t.result.Uses = append(t.result.Uses, c)
	}
}

// RequireHost ends the check as blocked when the cell lacks the fact.
func (t *T) RequireHost(fact catalog.HostFact) {
	ginkgo.GinkgoHelper()
	if _, has := t.run.host[fact]; !has {
		t.result.Lacks = fact
		t.stop(report.Blocked, fmt.Sprintf("this cell lacks %s: %s", fact, t.run.lacks[fact]))
	}
}

// NotApplicable ends the check, or the row, because what it is about is not
// what this subject claims.
func (t *T) NotApplicable(format string, args ...any) {
	ginkgo.GinkgoHelper()
	t.stop(report.NotApplicable, fmt.Sprintf(format, args...))
}

// Describe asks the subject for its description again and validates it.
func (t *T) Describe(ctx context.Context) (subject.Description, error) {
	return subject.Describe(ctx, t.run.cfg.Subject)
}
