package mutants

import "slices"

// ids are all checks, and rows, that the run meets, in order, each once.
func ids(faults []Fault, o Options) []string {
	var all []string
	for _, f := range faults {
		all = append(all, idsOf(f, o)...)
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// checks are the checks among them.
func checks(faults []Fault, o Options) []string {
	all := ids(faults, o)
	for i, id := range all {
		all[i] = caseOf(id)
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// idsOf are what one fault meets: where it names a row, the others of that check
// would cost time and show nothing that is asked.
func idsOf(f Fault, o Options) []string {
	if o.Full {
		return o.All
	}
	list := slices.Concat(o.Sentinels, f.Cases)
	slices.Sort(list)
	return slices.Compact(list)
}
