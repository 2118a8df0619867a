package mutants

import "slices"

// ids are all checks that the run meets, in order, each once.
func ids(faults []Fault, o Options) []string {
	var all []string
	for _, f := range faults {
		all = append(all, idsOf(f, o)...)
	}
	slices.Sort(all)
	return slices.Compact(all)
}

func idsOf(f Fault, o Options) []string {
	if o.Full {
		return o.All
	}
	list := slices.Clone(o.Sentinels)
	for _, id := range f.Cases {
		list = append(list, caseOf(id))
	}
	slices.Sort(list)
	return slices.Compact(list)
}
