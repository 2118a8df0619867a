package kit

import (
	"testing"

	"github.com/onsi/ginkgo/v2/types"

	"bridgecheck/suites/report"
)

// TestOutcome holds the mapping from what Ginkgo saw to a state: the one place
// where a red could turn green.
func TestOutcome(t *testing.T) {
	extra := []types.AdditionalFailure{{Failure: types.Failure{Message: "left over"}}}
	for _, tt := range []struct {
		name    string
		state   types.SpecState
		stopped report.State
		extra   []types.AdditionalFailure
		want    report.State
	}{
		{"passed", types.SpecStatePassed, "", nil, report.Passed},
		{"failed", types.SpecStateFailed, "", nil, report.Failed},
		{"stood still", types.SpecStateTimedout, "", nil, report.Failed},
		{"panicked", types.SpecStatePanicked, "", nil, report.Errored},
		{"interrupted", types.SpecStateInterrupted, "", nil, report.Errored},
		{"aborted", types.SpecStateAborted, "", nil, report.Errored},
		{"pending", types.SpecStatePending, "", nil, report.Errored},
		{"skipped by kit", types.SpecStateSkipped, report.NotApplicable, nil, report.NotApplicable},
		{"blocked by kit", types.SpecStateSkipped, report.Blocked, nil, report.Blocked},
		{"moot by kit", types.SpecStateSkipped, report.Moot, nil, report.Moot},
		{"skipped by anybody else", types.SpecStateSkipped, "", nil, report.Errored},
		{"harness at fault", types.SpecStateFailed, report.Errored, nil, report.Errored},
		{"passed, clean-up failed", types.SpecStatePassed, "", extra, report.Errored},
		{"skipped, clean-up failed", types.SpecStateSkipped, report.NotApplicable, extra, report.Errored},
		{"failed, clean-up failed too", types.SpecStateFailed, "", extra, report.Failed},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c := &T{stopped: tt.stopped}
			got, reason := c.outcome(types.SpecReport{State: tt.state, AdditionalFailures: tt.extra})
			if got != tt.want {
				t.Errorf("got %s, wanted %s", got, tt.want)
			}
			if got == report.Errored && tt.stopped == "" && reason == "" {
				t.Error("an error without a reason")
			}
		})
	}
}
