package claims

import (
	"context"

	"bridgecheck/suites/catalog"
	"bridgecheck/suites/kit"
	"bridgecheck/suites/subject"
)

var _ = kit.Check(catalog.Case{
	ID:     "CAP-001",
	Title:  "describes itself in the words of the contract",
	Must:   "describe MUST print one valid JSON object: protocol, name, versions, and capabilities from the closed list, each once.",
	Level:  catalog.Security,
	Clause: "12.1",
	Faults: []string{"describe-no-versions"},
}, func(ctx context.Context, t *kit.T) {
	// That the instrument rejects is shown on a description that is wrong.
	wrong := subject.Description{Protocol: subject.Protocol, Name: "x", Capabilities: []subject.Capability{"teleport"}}
	t.Control("a description with an unknown word is rejected", wrong.Validate() != nil, kit.Be(true))

	description, err := t.Describe(ctx)
	t.Attempt("problems of the description", problem(err), kit.BeNone())
	t.Attempt("versions told", len(description.Versions), kit.Differ(0))
})

func problem(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}
