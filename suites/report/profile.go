package report

import (
	"fmt"
	"slices"

	"github.com/goccy/go-yaml"

	"bridgecheck/suites/subject"
)

// Profile is a frozen set of checks that answers one question.
type Profile struct {
	Name string `json:"name"`
	// Why is the question, in a sentence.
	Why string `json:"why"`
	// Optional leaves the profile out where none of its checks applies: it is about
	// something that most subjects have not.
	Optional bool `json:"optional"`
	// Core are the capabilities without which the profile cannot be conformant.
	Core []subject.Capability `json:"core"`
	// Required are the ids that score; a check that is not among them is run
	// and shown.
	Required []string `json:"required"`
}

// ParseProfiles reads ci/profiles.yaml. An unknown key, an unknown capability, a
// profile without ids and anything that stands twice are errors.
func ParseProfiles(data []byte) ([]Profile, error) {
	var file struct {
		Profiles []Profile `json:"profiles"`
	}
	if err := yaml.UnmarshalWithOptions(data, &file, yaml.DisallowUnknownField()); err != nil {
		return nil, fmt.Errorf("profiles: %w", err)
	}
	if len(file.Profiles) == 0 {
		return nil, fmt.Errorf("profiles: the file names none; a run without profiles judges nothing")
	}
	seen := map[string]bool{}
	for _, p := range file.Profiles {
		if seen[p.Name] {
			return nil, fmt.Errorf("profiles: %q stands twice", p.Name)
		}
		seen[p.Name] = true
		if err := p.validate(); err != nil {
			return nil, err
		}
	}
	return file.Profiles, nil
}

func (p Profile) validate() error {
	if p.Name == "" || p.Why == "" {
		return fmt.Errorf("profile %q: give name and why", p.Name)
	}
	if len(p.Required) == 0 {
		return fmt.Errorf("profile %s: requires no check, so it would judge nothing; list ids or remove it", p.Name)
	}
	if id, twice := duplicate(p.Required); twice {
		return fmt.Errorf("profile %s: %s stands twice", p.Name, id)
	}
	for _, c := range p.Core {
		if !slices.Contains(subject.All(), c) {
			return fmt.Errorf("profile %s: core capability %q is unknown", p.Name, c)
		}
	}
	return nil
}

func duplicate(list []string) (string, bool) {
	seen := map[string]bool{}
	for _, s := range list {
		if seen[s] {
			return s, true
		}
		seen[s] = true
	}
	return "", false
}
