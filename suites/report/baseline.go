package report

import (
	"fmt"
	"strings"

	"github.com/goccy/go-yaml"
)

// Expected is one failure that is known and accepted for a while.
type Expected struct {
	// ID is a check (ALW-012) or one row of it (ALW-012.cgnat).
	ID string `json:"id"`
	// Reason says what is wrong, in a sentence.
	Reason string `json:"reason"`
	// Link is where it is being dealt with.
	Link string `json:"link"`
}

// ParseBaseline reads ci/baselines/SUBJECT.yaml. An entry without reason or link
// is an error: a failure that nobody explains is not accepted.
func ParseBaseline(data []byte) ([]Expected, error) {
	var file struct {
		Expected []Expected `json:"expected"`
	}
	if err := yaml.UnmarshalWithOptions(data, &file, yaml.DisallowUnknownField()); err != nil {
		return nil, fmt.Errorf("baseline: %w", err)
	}
	seen := map[string]bool{}
	for _, e := range file.Expected {
		switch {
		case e.ID == "":
			return nil, fmt.Errorf("baseline: an entry has no id")
		case strings.TrimSpace(e.Reason) == "" || strings.TrimSpace(e.Link) == "":
			return nil, fmt.Errorf("baseline: %s: give reason and link", e.ID)
		case seen[e.ID]:
			return nil, fmt.Errorf("baseline: %s stands twice", e.ID)
		}
		seen[e.ID] = true
	}
	return file.Expected, nil
}

// covers tells whether the entry speaks of the row; an entry for a check speaks
// of all its rows.
func (e Expected) covers(id, row string) bool {
	return e.ID == id || (row != "" && e.ID == id+"."+row)
}

func (e Expected) text() string { return e.Reason + " (" + e.Link + ")" }

// caseOf is the check's id in an id that may name a row.
func caseOf(id string) string { check, _, _ := strings.Cut(id, "."); return check }
