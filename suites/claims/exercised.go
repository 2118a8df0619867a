package claims

import (
	"bridgecheck/suites/catalog"
	"bridgecheck/suites/kit"
	"bridgecheck/suites/subject"
)

var _ = kit.OfRun(catalog.Case{
	ID:     "CAP-003",
	Title:  "claims nothing that no passed check has used",
	Must:   "What is claimed MUST be exercised by at least one passed check of a full run.",
	Level:  catalog.Security,
	Clause: "12.3",
	Faults: []string{"idle-per-direction"},
	Rows:   words(subject.All()),
	Why:    "A claim that nothing tries would be a promise on paper, and one that fails everywhere is none.",
})

func words(claims []subject.Capability) []string {
	var words []string
	for _, c := range claims {
		words = append(words, string(c))
	}
	return words
}
