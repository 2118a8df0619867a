// Package ci carries what the gate is judged by: the frozen profiles, the
// baselines and the version matrix, compiled into the one command, so that a binary and
// its judgement cannot come apart.
package ci

import (
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"bridgecheck/suites/report"
)

// Profiles is profiles.yaml; see [report.ParseProfiles].
//
//go:embed profiles.yaml
var Profiles []byte

// Matrix is matrix.yaml; package ci/matrix reads it.
//
//go:embed matrix.yaml
var Matrix []byte

//go:embed baselines/*.yaml
var baselines embed.FS

// Baseline returns the expected failures of the subject, none for a subject that
// has no file in baselines.
func Baseline(subject string) ([]report.Expected, error) {
	if strings.Contains(subject, "/") || !fs.ValidPath(subject) {
		return nil, fmt.Errorf("baseline: %q is no subject's name", subject)
	}
	data, err := baselines.ReadFile("baselines/" + subject + ".yaml")
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("baseline: %w", err)
	}
	expected, err := report.ParseBaseline(data)
	if err != nil {
		return nil, fmt.Errorf("ci/baselines/%s.yaml: %w", subject, err)
	}
	return expected, nil
}
