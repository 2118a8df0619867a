package report

import (
	"encoding/json"
	"fmt"
	"os"

	"bridgecheck/suites/catalog"
)

// Options are what [Judge] must know besides the facts.
type Options struct {
	// Profiles are those to be judged: every one of them in a full run, those
	// named in a run by profile, none in a run of chosen ids. A required id
	// that was not selected makes its profile invalid.
	Profiles []Profile
	Baseline []Expected
	// Strict turns what this host cannot give into red (CI).
	Strict bool
	// Gate compares two subjects: what is listed and passes is mended there,
	// and stale (red) everywhere else.
	Gate bool
	// Selection are the ids (or ID.row) that the run was to cover. Each must
	// stand in the Selected list of at least one shard.
	Selection []string
	// Registered are all checks there are.
	Registered []catalog.Case
	// SubjectIsOurs lets level H gate.
	SubjectIsOurs bool
	// SubjectArg is what the user named the subject by: a name or a path. It is
	// what the rerun line says; empty means the described name.
	SubjectArg string
	// Label replaces the described name where a subject cannot know its own,
	// as a planted fault.
	Label string
	// Moot lists for each cell (by name) the ids, or ID.row, whose door may be
	// missing on that host.
	Moot map[string][]string
	// Cells are the names of the cells that were to run; one without facts
	// makes the run invalid.
	Cells []string
	// Problems are what went wrong outside the facts (a shard that crashed): any
	// of them makes the run invalid.
	Problems []string
	// HostLacks is what the host could not give to the whole run, as a container
	// engine: red when strict, told otherwise.
	HostLacks []string
	// Release and Commit name the suites.
	Release, Commit string
}

// ReadFacts reads the file of one shard. A missing, cut or foreign file is an
// error; pass its text on as one of [Options.Problems].
func ReadFacts(path string) (Facts, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return Facts{}, fmt.Errorf("read facts: %w; the suite ended before it wrote them", err)
	}
	var f Facts
	if err := json.Unmarshal(data, &f); err != nil {
		return Facts{}, fmt.Errorf("read facts %s: %w; the file is cut or of another release", path, err)
	}
	return f, nil
}
