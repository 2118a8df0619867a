package catalog

import (
	"cmp"
	"fmt"
	"slices"
)

var registry = map[string]Case{}

// Register adds a case and panics when it is invalid or the id is taken: both
// are mistakes of the harness that no run should survive.
func Register(c Case) {
	if err := c.Validate(); err != nil {
		panic(err)
	}
	if _, taken := registry[c.ID]; taken {
		panic(fmt.Errorf("case %s: registered twice", c.ID))
	}
	registry[c.ID] = c
}

// All returns every registered case, by id.
func All() []Case {
	all := make([]Case, 0, len(registry))
	for _, c := range registry {
		all = append(all, c)
	}
	slices.SortFunc(all, func(a, b Case) int { return cmp.Compare(a.ID, b.ID) })
	return all
}

// Get returns the case with the id.
func Get(id string) (Case, bool) { c, ok := registry[id]; return c, ok }
