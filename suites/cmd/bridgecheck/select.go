package main

import (
	"fmt"
	"slices"
	"strings"

	"bridgecheck/suites/catalog"
	"bridgecheck/suites/report"
)

// selection is what the flags of a verb choose among the registered checks.
type selection struct {
	ids, areas, labels []string
	profile            string
	// tools is the folder that checks on request need; without it they are chosen
	// by their id or their label alone.
	tools string
}

// resolve returns the ids, and the profiles that the run can judge: all of them
// when nothing is chosen, the one that is named, none for chosen ids.
func (s selection) resolve(profiles []report.Profile) ([]string, []report.Profile, error) {
	if s.profile != "" && s.chooses() {
		return nil, nil, fmt.Errorf("choose by --profile, or by --id, --area and --label, not by both")
	}
	if s.profile != "" {
		for _, p := range profiles {
			if p.Name == s.profile {
				return p.Required, []report.Profile{p}, nil
			}
		}
		return nil, nil, fmt.Errorf("there is no profile %q; there are %s", s.profile, profileNames(profiles))
	}
	all := s.offered(catalog.All())
	if !s.chooses() {
		return ids(all), profiles, nil
	}
	chosen, err := s.choose(all)
	return chosen, nil, err
}

// offered leaves out what is run on request.
func (s selection) offered(all []catalog.Case) []catalog.Case {
	if s.tools != "" {
		return all
	}
	return slices.DeleteFunc(all, catalog.Case.OnRequest)
}

func (s selection) chooses() bool { return len(s.ids)+len(s.areas)+len(s.labels) > 0 }

func (s selection) choose(all []catalog.Case) ([]string, error) {
	var chosen []string
	for _, id := range s.ids {
		check, row, named := strings.Cut(id, ".")
		c, ok := catalog.Get(check)
		switch {
		case !ok:
			return nil, fmt.Errorf("there is no check %q; `bridgecheck list` shows all", id)
		case named && !slices.Contains(c.Rows, row):
			return nil, fmt.Errorf("check %s has no row %q; `bridgecheck explain %s` shows them", check, row, check)
		}
		chosen = append(chosen, id)
	}
	for _, area := range s.areas {
		of := slices.DeleteFunc(slices.Clone(all), func(c catalog.Case) bool { return c.Area() != area })
		if len(of) == 0 {
			return nil, fmt.Errorf("there is no area %q; `bridgecheck list` shows all", area)
		}
		chosen = append(chosen, ids(of)...)
	}
	for _, label := range s.labels {
		among := all
		if label == "host:"+string(catalog.HostTools) {
			among = catalog.All()
		}
		of := slices.DeleteFunc(slices.Clone(among), func(c catalog.Case) bool { return !slices.Contains(c.Labels(), label) })
		if len(of) == 0 {
			return nil, fmt.Errorf("no check has the label %q; labels are level:S, needs:connect, host:root, area:ALW", label)
		}
		chosen = append(chosen, ids(of)...)
	}
	slices.Sort(chosen)
	if alone := slices.Compact(chosen); slices.ContainsFunc(alone, hasBody) {
		return alone, nil
	}
	return nil, fmt.Errorf("%s is judged by what other checks show: choose these too, or leave the flag out to run everything", chosen[0])
}

// hasBody tells whether there is something to run for the id.
func hasBody(id string) bool {
	check, _, _ := strings.Cut(id, ".")
	c, _ := catalog.Get(check)
	return !c.OfRun
}

func ids(cases []catalog.Case) []string {
	var ids []string
	for _, c := range cases {
		ids = append(ids, c.ID)
	}
	return ids
}

func profileNames(profiles []report.Profile) string {
	var names []string
	for _, p := range profiles {
		names = append(names, p.Name)
	}
	return strings.Join(names, ", ")
}
